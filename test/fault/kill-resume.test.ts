import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { startAnsweringServer } from "../helpers/answering-server.js";
import type { AnsweringServer } from "../helpers/answering-server.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const program = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** `REPUTE_TEST_KILLS=500` for the long version; by default 52 over the four forms. */
const kills = Math.ceil(Number(process.env["REPUTE_TEST_KILLS"] ?? "52") / 4);

const rows = 20_000;
const distinct = 18_000;
const concurrency = 32;

describe("a run that is killed again and again", () => {
  it.each(["csv", "csv.gz", "ndjson", "ndjson.gz"])(
    "ends with the rows of an undisturbed run and pays for nothing twice: %s",
    { timeout: 600_000 },
    async (extension) => {
      const folder = await temporaryFolder();
      const server = await serving();
      const input = join(folder, extension.startsWith("csv") ? "in.csv" : "in.ndjson");
      await writeFile(input, inputOf(extension));

      const calm = join(folder, `calm.${extension}`);
      expect(await enrich(server, input, calm, [])).toBe(0);
      expect(server.asked.size).toBe(distinct);
      expect(server.total).toBe(distinct);

      const random = seeded(extension.length * 7919 + kills);
      const out = join(folder, `out.${extension}`);
      const before = server.total;
      let killed = 0;
      for (let code: number | null = null; code === null;) {
        // Later sessions have less to do; the kills are spread over the whole run.
        const after = 1 + Math.floor(random() * ((2 * distinct) / kills));
        code = await enrich(server, input, out, ["--resume"], killed < kills ? after : null);
        if (code === null) killed++;
      }

      expect(killed).toBeGreaterThan(kills / 2);
      expect(rowsOf(await readFile(out), extension)).toEqual(
        rowsOf(await readFile(calm), extension),
      );
      expect(server.total - before - distinct).toBeLessThanOrEqual(killed * concurrency);
      expect(existsSync(`${out}.state`)).toBe(false);
      expect(existsSync(`${out}.part`)).toBe(false);
    },
  );
});

describe("the end of a run", () => {
  it("is done again when it was cut off between the output's name and its manifest", async () => {
    const folder = await temporaryFolder();
    const server = await serving();
    const input = join(folder, "in.csv");
    await writeFile(input, "domain\na.example.com\nb.example.com\n");
    const out = join(folder, "out.csv");
    // A folder in the manifest's place stands for whatever kept it from being written.
    await mkdir(`${out}.manifest.json`);
    expect(await enrich(server, input, out, [])).toBe(1);
    expect(existsSync(out)).toBe(true);
    await rmdir(`${out}.manifest.json`);
    expect(await enrich(server, input, out, ["--resume"])).toBe(0);
    expect(rowsOf(await readFile(out), "csv")).toHaveLength(3);
    expect(JSON.parse(await readFile(`${out}.manifest.json`, "utf8"))).toMatchObject({
      output: { rows: 2 },
      resumed: 1,
    });
    expect(server.total).toBe(2);
  });

  it("takes in what an input gained while the run was interrupted", async () => {
    const folder = await temporaryFolder();
    const server = await serving();
    const input = join(folder, "in.csv");
    const lines = Array.from({ length: 3_000 }, (_, n) => `n${n}.example.com\n`);
    await writeFile(input, `domain\n${lines.slice(0, 2_000).join("")}`);
    const out = join(folder, "out.csv");
    expect(await enrich(server, input, out, [], 900)).toBeNull();
    await writeFile(input, `domain\n${lines.join("")}`);
    expect(await enrich(server, input, out, ["--resume"])).toBe(0);
    expect(rowsOf(await readFile(out), "csv")).toHaveLength(3_001);
    expect(JSON.parse(await readFile(`${out}.manifest.json`, "utf8"))).toMatchObject({
      input: { grew_while_interrupted: true, rows: 3_000 },
    });
  });
});

async function serving(): Promise<AnsweringServer> {
  const server = await startAnsweringServer();
  onTestFinished(() => server.close());
  return server;
}

/** Runs the program; `killAfter` requests it is killed. Resolves to its exit code, null when killed. */
async function enrich(
  server: AnsweringServer,
  input: string,
  output: string,
  flags: readonly string[],
  killAfter: number | null = null,
): Promise<number | null> {
  const child = spawn(
    process.execPath,
    [
      program,
      "enrich",
      input,
      "-o",
      output,
      "--intel-url",
      server.url,
      "--lookups",
      "query",
      "--rate",
      "1000000/s",
      "--concurrency",
      String(concurrency),
      ...flags,
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const last = server.total + (killAfter ?? Number.POSITIVE_INFINITY);
  server.onRequest = (total) => {
    if (total >= last) child.kill("SIGKILL");
    return total < last;
  };
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  if (code !== 0 && code !== null && flags.length > 0) throw new Error(said);
  return code;
}

function inputOf(extension: string): string {
  // Every tenth row repeats an earlier one.
  const names: string[] = [];
  let fresh = 0;
  for (let n = 0; n < rows; n++) {
    names.push(n % 10 === 9 ? names[(n * 7) % names.length]! : `host-${fresh++}.example.com`);
  }
  return extension.startsWith("csv")
    ? `n,domain\n${names.map((name, n) => `${n},${name}\n`).join("")}`
    : names.map((domain, n) => `${JSON.stringify({ n, domain })}\n`).join("");
}

/** The rows without what may differ: when an answer came and where from. */
function rowsOf(bytes: Buffer, extension: string): string[] {
  const text = (extension.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString();
  return text
    .trimEnd()
    .split("\n")
    .map((line) =>
      line
        .replace(/"source":"\w+"|"looked_up_at":"[^"]*"/g, "")
        .replace(/,(?:live|duplicate),(200,\d+),[^,]*,/, ",$1,"),
    );
}

/** Mulberry32: small, and the same everywhere. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
