import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { Manifest } from "../../../src/core/manifest.js";
import { queryDuckdb } from "../../io/output/tables/warehouse-readers.js";
import { startAnsweringServer } from "../../helpers/answering-server.js";
import { runRepute } from "../../helpers/run-repute.js";
import { reply, startScriptedServer } from "../../helpers/scripted-server.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const program = fileURLToPath(new URL("../../../dist/program/repute.js", import.meta.url));

const names = (count: number, from = 0): readonly string[] =>
  Array.from({ length: count }, (_, n) => `d${n + from}.example.com`);

const dumpOf = (items: readonly string[]): string =>
  items.map((domain) => `${JSON.stringify({ domain })}\n`).join("");

interface Night {
  readonly dump: string;
  readonly code: number;
  readonly reason: Manifest["exit_reason"];
  readonly rows: number;
  readonly requests: number;
  /** What the error says. */
  readonly line: string;
}

const good = { code: 0, reason: "done", line: "" } as const;

const few = { code: 1, reason: "too_few_rows", requests: 0 } as const;

/** Good, a broken export, one without rows, one that shrank, good again. */
const nights: readonly Night[] = [
  { ...good, dump: dumpOf(names(120)), rows: 120, requests: 120 },
  {
    dump: dumpOf(names(120)).replaceAll("}", ",}"),
    code: 1,
    reason: "nothing_to_look_up",
    rows: 120,
    requests: 0,
    line: "line 1 is not a JSON object",
  },
  { ...few, dump: "", rows: 0, line: "the input has no rows, the run before had 120" },
  { ...few, dump: dumpOf(names(59)), rows: 59, line: "only 59 rows, the run before had 120" },
  { ...good, dump: dumpOf(names(125, 5)), rows: 125, requests: 125 },
];

/** Runs a line as cron does: in the home folder, almost without environment. */
function cron(home: string, args: readonly string[]): Promise<{ code: number; stderr: string }> {
  const environment = [`HOME=${home}`, "PATH=/usr/bin:/bin", "SHELL=/bin/sh", "LOGNAME=nobody"];
  const line = ["-i", ...environment, process.execPath, program, ...args];
  return new Promise((resolve) => {
    execFile("/usr/bin/env", line, { cwd: home }, (error, _, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stderr }),
    );
  });
}

/** The same in this process, which is ten times as fast. */
function here(
  home: string,
  args: readonly string[],
): Promise<{ code: number | null; stderr: string }> {
  return runRepute(args, { cwd: home, env: { HOME: home } });
}

interface Output {
  /** @default here */
  readonly run?: typeof here;
  readonly flags: readonly string[];
  /** Path of the manifest of refused rows, and of the rows. */
  readonly failed: string;
  /** What readers see. */
  readonly content: (home: string) => Promise<unknown>;
  readonly after?: (home: string, night: number) => Promise<void>;
  /** The last report, and the night that it is compared with. */
  readonly report?: string;
  readonly compared?: string;
}

async function bytesIn(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of await readdir(folder)) {
    if (name.includes(".failed")) continue;
    const bytes = await readFile(join(folder, name));
    found[name] = createHash("sha256").update(bytes).digest("hex");
  }
  return found;
}

const table = (mode: string): Output => ({
  flags: ["-o", "duckdb:out/t.duckdb?table=t", "--mode", mode, "--report", "out/night.html"],
  failed: "out/t.duckdb.t.failed.ndjson",
  content: async (home) => {
    const file = join(home, "out/t.duckdb");
    if (!existsSync(file)) return null;
    return [
      await queryDuckdb("SELECT rep_item, rep_status, rep_run_id FROM t ORDER BY 1, 3", file),
      await queryDuckdb("SELECT run_id FROM t_runs", file),
      await readFile(join(home, "out/night.html"), "utf8"),
    ];
  },
});

const outputs: Readonly<Record<string, Output>> = {
  "a file": {
    run: cron,
    flags: ["-o", "out/night.csv", "--report", "out/night.html"],
    failed: "out/night.csv.failed",
    content: (home) => bytesIn(join(home, "out")),
  },
  "files with {date}": {
    flags: ["-o", "out/{date}.csv", "--report", "out/{date}.html", "--against", "previous"],
    failed: "out/TODAY.csv.failed",
    content: (home) => bytesIn(join(home, "out")),
    report: "out/2020-01-05.html",
    compared: "2020-01-01.csv",
    // The nights of this test are one day.
    async after(home, night) {
      for (const name of await readdir(join(home, "out"))) {
        if (name.includes(".failed")) continue;
        const earlier = name.replace(/^(?!2020)\d{4}-\d\d-\d\d/, `2020-01-0${night}`);
        await rename(join(home, "out", name), join(home, "out", earlier));
      }
    },
  },
  "a table, --mode append": table("append"),
  "a table, --mode merge": table("merge"),
  "a table, --mode replace": table("replace"),
};

test.each(Object.entries(outputs))(
  "five nights with good and bad dumps need no hand: %s",
  async (
    _,
    { run = here, flags, failed, content, after, report = "out/night.html", compared = "" },
  ) => {
    const home = await temporaryFolder();
    await mkdir(join(home, "out"));
    const server = await startAnsweringServer();
    const monitor = await startScriptedServer([reply(200, "OK")]);
    onTestFinished(async () => {
      await Promise.all([server.close(), monitor.close()]);
    });
    const metric = async (name: string): Promise<string> => {
      const text = await readFile(join(home, "m.prom"), "utf8");
      return new RegExp(`^repute_${name}(?:\\{.*\\})? (.*)$`, "m").exec(text)?.[1] ?? "";
    };
    const line = ["enrich", "dump.ndjson", ...flags, "--resume", "--quiet"];
    const service = ["--intel-url", server.url, "--lookups", "query", "--rate", "100000/s"];
    const watched = ["--metrics", "m.prom", "--ping", `${monitor.url}/n`];
    let success = "";
    for (const [index, night] of nights.entries()) {
      const before = [server.total, await content(home)] as const;
      await writeFile(join(home, "dump.ndjson"), night.dump);
      const calls = monitor.requests.length;
      const { code, stderr } = await run(home, [...line, ...service, ...watched]);
      const about = `night ${index + 1}: ${stderr}`;
      expect([code, server.total - before[0]], about).toEqual([night.code, night.requests]);
      // Metrics and ping tell the truth.
      const isGood = night.code === 0;
      const [start, end] = monitor.requests.slice(calls);
      expect([start?.path, end?.path], about).toEqual(["/n/start", isGood ? "/n" : "/n/fail"]);
      const told = JSON.parse(end?.body ?? "{}") as Manifest;
      expect(told, about).toMatchObject({ exit_reason: night.reason, input: { rows: night.rows } });
      expect(await metric("exit_code"), about).toBe(String(night.code));
      expect(await metric(`exit_reason\\{.*="${night.reason}"\\}`), about).toBe("1");
      const last = await metric("last_success_time_seconds");
      expect(last === success, about).toBe(!isGood);
      success = last;
      if (!isGood) {
        checkKept({ before: before[1], after: await content(home) }, about);
        await checkRefused(night, join(home, failed), stderr);
      }
      await after?.(home, index + 1);
    }
    const left = await readdir(join(home, "out"));
    expect(left.filter((name) => /\.(?:part|state)$/.test(name))).toEqual([]);
    const page = await readFile(join(home, report), "utf8");
    expect(page).toContain(compared);
  },
);

interface Contents {
  readonly before: unknown;
  readonly after: unknown;
}

function checkKept({ before, after }: Contents, about: string): void {
  expect(after, about).toEqual(before);
}

/** @param failed path of the refused rows */
async function checkRefused({ reason, rows, line }: Night, failed: string, stderr: string) {
  const kept = failed.replace("TODAY", new Date().toISOString().slice(0, 10));
  const manifest: unknown = JSON.parse(await readFile(`${kept}.manifest.json`, "utf8"));
  expect(manifest).toMatchObject({ exit_reason: reason, output: { rows } });
  expect(stderr).toContain(", not in ");
  expect(stderr).toContain("check the export that makes the input");
  expect(stderr).toContain(line);
  expect(stderr).not.toContain("repute retry");
}
