import { execFile } from "node:child_process";
import { cp, readFile, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { checkLmdbFile } from "../../src/store/cache/lmdb-check.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const program = fileURLToPath(new URL("cache-user.mjs", import.meta.url));
const page = 4096;
const keys = 400;

/** What a process did to a cache: keys that it found before and after it kept answers. */
interface Used {
  readonly folder: string;
  readonly before: { readonly found: number; readonly wrong: number };
  readonly after: { readonly found: number; readonly wrong: number };
  readonly warnings: readonly string[];
}

/** Rejects when the process ends otherwise than by itself, or says anything on stderr. */
async function use(
  folders: readonly string[],
  from: number,
  put: number,
  syncEvery = 50,
): Promise<Used[]> {
  const job = JSON.stringify({ folders, keys, from, put, syncEvery });
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, job]);
  if (stderr !== "") throw new Error(stderr);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Used);
}

describe("several processes at once", () => {
  test("each finds what it kept, and afterwards everything is there", async () => {
    const folder = join(await temporaryFolder(), "cache");
    const users = [0, 60, 120, 180, 240].map((from) => use([folder], from, 160));
    for (const [used] of await Promise.all(users)) {
      expect(used).toMatchObject({ before: { wrong: 0 }, after: { wrong: 0 }, warnings: [] });
      expect(used?.after.found).toBeGreaterThanOrEqual(160);
    }
    const [last] = await use([folder], 0, 0);
    expect(last).toMatchObject({ before: { found: keys, wrong: 0 }, warnings: [] });
  });
});

describe("several processes that write again and again", () => {
  test("lose nothing, and leave whole files", async () => {
    const folder = join(await temporaryFolder(), "cache");
    const from = Array.from({ length: 8 }, (_, n) => n * 34);
    for (const [used] of await Promise.all(from.map((n) => use([folder], n, 160, 10)))) {
      expect(used).toMatchObject({ before: { wrong: 0 }, after: { wrong: 0 }, warnings: [] });
    }
    for (const name of ["entries", "index"]) {
      const path = join(folder, "findings", name, "data.mdb");
      await expect(checkLmdbFile(path)).resolves.toEqual({ state: "sound" });
    }
    const [last] = await use([folder], 0, 0);
    expect(last?.before).toEqual({ found: 7 * 34 + 160, wrong: 0 });
  });

  test("go on when one of them is killed at the gate", async () => {
    const folder = join(await temporaryFolder(), "cache");
    await use([folder], 0, 20);
    const dead = { pid: 2 ** 22 + 1, host: hostname(), startedAt: "1", boot: null, token: "t" };
    await writeFile(join(folder, "findings", "gate"), JSON.stringify(dead));
    const [used] = await use([folder], 20, 20);
    expect(used).toMatchObject({ before: { found: 20 }, after: { found: 40 }, warnings: [] });
  });
});

describe("files torn in many ways never end the process", () => {
  test.each(["entries", "index"])("%s", async (name) => {
    const folder = await temporaryFolder();
    const whole = join(folder, "whole");
    await use([whole], 0, 300);
    await use([whole], 100, 120);
    const random = seeded(name.length);
    const torn: string[] = [];
    for (const [how, tear] of Object.entries(tears)) {
      for (let time = 0; time < 6; time++) {
        const copy = join(folder, `${how}-${time}`);
        await cp(whole, copy, { recursive: true });
        const path = join(copy, "findings", name, "data.mdb");
        await writeFile(path, tear(await readFile(path), random));
        torn.push(copy);
      }
    }
    const used = await use(torn, 250, 60);
    expect(used).toHaveLength(torn.length);
    for (const { before, after, warnings, folder: which } of used) {
      expect({ which, wrong: before.wrong + after.wrong }).toEqual({ which, wrong: 0 });
      const unused = warnings.some((text) => text.endsWith("; the run goes on without it"));
      expect({ which, most: warnings.length <= 1, unused }).toEqual({
        which,
        most: true,
        unused: after.found === 0,
      });
    }
  });
});

type Random = (below: number) => number;

/** Ways in which a file of pages may be torn. */
const tears: Readonly<Record<string, (bytes: Buffer, random: Random) => Buffer>> = {
  cut: (bytes, random) => bytes.subarray(0, random(bytes.length)),
  bits: (bytes, random) => {
    for (let left = 1 + random(40); left > 0; left--)
      bytes[random(bytes.length)]! ^= 1 << random(8);
    return bytes;
  },
  heads: (bytes, random) => {
    bytes[page * usedPage(bytes, random) + random(64)]! ^= 1 << random(8);
    return bytes;
  },
  snapshots: (bytes, random) => {
    bytes[page * random(2) + 24 + random(144)]! ^= 1 << random(8);
    return bytes;
  },
  zeros: (bytes, random) => {
    const at = page * usedPage(bytes, random);
    return bytes.fill(0, at, at + page);
  },
  swaps: (bytes, random) => {
    const [one, other] = [usedPage(bytes, random), usedPage(bytes, random)];
    bytes.copy(bytes, one * page, other * page, (other + 1) * page);
    return bytes;
  },
  noise: (bytes, random) => {
    const at = page * usedPage(bytes, random) + random(page);
    for (let n = 0; n < 300 && at + n < bytes.length; n++) bytes[at + n] = random(256);
    return bytes;
  },
  gaps: (bytes, random) => {
    const at = page * usedPage(bytes, random);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + page)]);
  },
};

/** A page that has been written: such a one begins with its own number. */
function usedPage(bytes: Buffer, random: Random): number {
  const pages = Array.from({ length: bytes.length / page }, (_, n) => n);
  const used = pages.filter((n) => bytes.readUInt32LE(n * page) === n);
  return used[random(used.length)] ?? 0;
}

/** Mulberry32: the same numbers for the same seed. */
function seeded(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}
