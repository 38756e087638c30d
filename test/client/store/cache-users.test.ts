import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, test } from "vitest";
import { seeded } from "../../helpers/seeded.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const program = fileURLToPath(new URL("cache-user.mjs", import.meta.url));
const page = 4_096;
const keys = 400;
/** Path of the file in a cache folder. */
const path = join("answers", "answers.db");

/** Result of a process: keys found before and after it put answers. */
interface Used {
  readonly folder: string;
  readonly before: { readonly found: number; readonly wrong: number };
  readonly after: { readonly found: number; readonly wrong: number };
  readonly warnings: readonly string[];
}

/** Rejects if the process does not exit by itself, or writes to stderr. */
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

describe("several processes that keep writing", () => {
  test("each find their own answers, lose nothing, and leave a whole file", async () => {
    const folder = join(await temporaryFolder(), "cache");
    const from = Array.from({ length: 4 }, (_, n) => n * 68);
    const users = from.map((n, at) => use([folder], n, 160, at % 2 === 0 ? 10 : 50));
    for (const [used] of await Promise.all(users)) {
      expect(used).toMatchObject({ before: { wrong: 0 }, after: { wrong: 0 }, warnings: [] });
      expect(used?.after.found).toBeGreaterThanOrEqual(160);
    }
    const database = new DatabaseSync(join(folder, path), { readOnly: true });
    expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    database.close();
    const [last] = await use([folder], 0, 0);
    expect(last?.before).toEqual({ found: 3 * 68 + 160, wrong: 0 });
  });

  test("continue when one of them is killed while writing", async () => {
    const folder = join(await temporaryFolder(), "cache");
    await use([folder], 0, 20);
    const write = `
      const { DatabaseSync } = require("@photostructure/sqlite");
      const database = new DatabaseSync(process.argv[1]);
      database.exec("BEGIN IMMEDIATE; DELETE FROM answers;");
      console.log("deleted");
      setInterval(() => database, 1000);`;
    const killed = spawn(process.execPath, ["-e", write, join(folder, path)]);
    await once(killed.stdout, "data");
    killed.kill("SIGKILL");
    await once(killed, "exit");
    const [used] = await use([folder], 20, 20);
    expect(used).toMatchObject({ before: { found: 20 }, after: { found: 40 }, warnings: [] });
  });
});

test("a file damaged in many ways neither yields a wrong answer nor ends the process", async () => {
  const folder = await temporaryFolder();
  const whole = join(folder, "whole");
  await use([whole], 0, 300);
  await use([whole], 100, 120);
  const luck = seeded(7);
  const random: Random = (below) => Math.floor(luck() * below);
  const torn: string[] = [];
  for (const [how, tear] of Object.entries(tears)) {
    for (let time = 0; time < 4; time++) {
      const copy = join(folder, `${how}-${time}`);
      await cp(whole, copy, { recursive: true });
      await writeFile(join(copy, path), tear(await readFile(join(copy, path)), random));
      torn.push(copy);
    }
  }
  const used = await use(torn, 250, 60);
  expect(used).toHaveLength(torn.length);
  for (const { before, after, warnings, folder: which } of used) {
    expect(before.wrong + after.wrong, which).toBe(0);
    expect(warnings.length, which).toBeLessThanOrEqual(1);
    expect(after.found, which).toBeGreaterThan(0);
  }
});

type Random = (below: number) => number;

/** Ways to damage a file of pages. */
const tears: Readonly<Record<string, (bytes: Buffer, random: Random) => Buffer>> = {
  cut: (bytes, random) => bytes.subarray(0, random(bytes.length)),
  bits: (bytes, random) => {
    for (let left = 1 + random(40); left > 0; left--)
      bytes[random(bytes.length)]! ^= 1 << random(8);
    return bytes;
  },
  heads: (bytes, random) => {
    bytes[page * anyPage(bytes, random) + random(60)]! ^= 1 << random(8);
    return bytes;
  },
  beginning: (bytes, random) => {
    const at = random(200);
    // A file of another version is left alone.
    if (at < 60 || at > 63) bytes[at]! ^= 1 << random(8);
    return bytes;
  },
  zeros: (bytes, random) => {
    const at = page * anyPage(bytes, random);
    return bytes.fill(0, at, at + page);
  },
  swaps: (bytes, random) => {
    const [one, other] = [anyPage(bytes, random), anyPage(bytes, random)];
    bytes.copy(bytes, one * page, other * page, (other + 1) * page);
    return bytes;
  },
  noise: (bytes, random) => {
    const at = page * anyPage(bytes, random) + random(page);
    for (let n = 0; n < 300 && at + n < bytes.length; n++) bytes[at + n] = random(256);
    return bytes;
  },
  gaps: (bytes, random) => {
    const at = page * anyPage(bytes, random);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + page)]);
  },
};

function anyPage(bytes: Buffer, random: Random): number {
  return random(bytes.length / page);
}
