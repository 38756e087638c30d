import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  reply,
  reset,
  silence,
  startScriptedServer,
  type Step,
} from "../../helpers/scripted-server.js";
import { column, servedWorkspace } from "../../helpers/workspace.js";

const names = Array.from({ length: 20 }, (_, n) => `h${n}.example.com`);

async function prepared() {
  const place = await servedWorkspace({ "in.csv": column("domain", names) });
  const env = { XDG_STATE_HOME: join(place.cwd, "home") };
  const enrich = (...flags: readonly string[]) =>
    place.askWith({ env }, "enrich", "in.csv", ...flags);
  return { ...place, enrich };
}

async function monitored(step: Step): Promise<string> {
  const monitor = await startScriptedServer([step]);
  return monitor.url;
}

const warning = "repute: warning: the ping to ";

test.each([
  ["answers with an error", reply(500), /it answered 500/],
  ["resets the connection", reset(), /reset|closed|hang up/i],
  ["never answers", silence(), /did not answer within 4 s/],
])("a monitor that %s is a warning and holds nothing up", async (_, step, reason) => {
  const { enrich, read } = await prepared();
  const url = await monitored(step);
  const flags = ["-o", "out.csv", "--quiet", "--ping", `${url}/secret-id`];
  const { code, stderr } = await enrich(...flags);
  expect(code).toBe(0);
  const lines = stderr.trimEnd().split("\n");
  for (const line of lines) expect(line.startsWith(warning + new URL(url).host)).toBe(true);
  expect(stderr).toMatch(reason);
  expect(stderr).not.toContain("secret-id");
  expect((await read("out.csv")).trimEnd().split("\n")).toHaveLength(names.length + 1);
});

test("warnings of metrics and pings, one each, come before the JSON object on stderr", async () => {
  const { enrich } = await prepared();
  const url = await monitored(reply(500));
  const { code, stderr } = await enrich("--json", "--ping", url, "--metrics", "none/m.prom");
  expect(code).toBe(0);
  const [last = "", ...warnings] = stderr.trimEnd().split("\n").toReversed();
  expect(JSON.parse(last)).toMatchObject({ exit_reason: "done", exit_code: 0 });
  expect(warnings.toSorted()).toEqual([
    expect.stringMatching(/^repute: warning: cannot write the metrics to none\/m\.prom: /),
    expect.stringContaining(warning),
  ]);
});

function logOf(stderr: string) {
  const lines = stderr.trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as Readonly<Record<string, string | null>>);
}

test.each([
  ["done", [], 0],
  ["rows failed", ["--fail-on", "unsupported"], 3],
  ["budget", ["--max-requests", "5"], 75],
  ["refused", [], 1],
  ["usage", ["--rat", "1/s"], 2],
] as const)("every line of a JSON log is an object: %s", async (end, flags, expected) => {
  const { write, server, enrich } = await prepared();
  await write("in.csv", column("domain", [...names, "\x1b[31msetup.exe"]));
  server.refusing = end === "refused";
  const log = ["-o", "out.csv", "--log-format", "json"];
  const { code, stderr } = await enrich(...log, "--metrics", "none/m.prom", ...flags);
  expect(code).toBe(expected);
  const lines = logOf(stderr);
  for (const { time, level, message, run_id } of lines) {
    expect(new Date(time!).toISOString()).toBe(time);
    expect(["info", "warning", "error"]).toContain(level);
    expect(typeof message).toBe("string");
    expect(run_id === null || /^[0-9a-f-]{36}$/.test(run_id!)).toBe(true);
  }
  expect(lines.at(-1)).toMatchObject({ message: `ended: ${end}`, exit_code: expected });
  const ofRun = lines.map((line) => line["run_id"] !== null);
  expect(ofRun.slice(-2)).toEqual(end === "usage" ? [false, false] : [true, true]);
  const errors = lines.filter((line) => line["level"] === "error");
  expect(errors.length > 0).toBe([1, 2, 75].includes(expected));
});

test("the manifest of a run to stdout is in the state folder, or in --state-dir", async () => {
  const { cwd, enrich, read } = await prepared();
  expect(await enrich("--quiet")).toMatchObject({ code: 0 });
  expect(JSON.parse(await read("home/repute/stdout.manifest.json"))).toMatchObject({
    exit_reason: "done",
    input: { rows: 20 },
  });
  expect(await enrich("--quiet", "--state-dir", "kept/here", "--max-requests", "5")).toMatchObject({
    code: 75,
  });
  expect(JSON.parse(await read("kept/here/stdout.manifest.json"))).toMatchObject({
    exit_reason: "budget",
    resumable: false,
  });
  expect((await readdir(cwd)).toSorted()).toEqual(["home", "in.csv", "kept"]);
});

test("state and manifest of a table are in --state-dir, where verify, report and diff find them", async () => {
  const { cwd, run, enrich, write } = await prepared();
  const table = "duckdb:all.duckdb?table=nightly";
  expect(await enrich("-o", "first.csv", "--quiet")).toMatchObject({ code: 0 });
  const flags = ["-o", table, "--quiet", "--state-dir"];
  expect(await enrich(...flags, "monday", "--max-requests", "5")).toMatchObject({ code: 75 });
  const [state] = await readdir(join(cwd, "monday"));
  expect(state).toMatch(/nightly.*\.state$/);
  expect(await enrich(...flags, "monday", "--resume")).toMatchObject({ code: 0 });
  const manifest = state?.replace(/\.state$/, ".manifest.json");
  expect(await readdir(join(cwd, "monday"))).toEqual([manifest]);
  await write("in.csv", column("domain", names.slice(1)));
  expect(await enrich(...flags, "tuesday")).toMatchObject({ code: 0 });
  const verified = await run("verify", table, "--state-dir", "monday");
  expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining("20 rows") });
  const said = async (...call: readonly string[]) => (await run(...call)).stdout;
  const text = await readFile(join(cwd, "monday", manifest ?? ""), "utf8");
  const { run_id: first } = JSON.parse(text) as { readonly run_id: string };
  for (const [named, state, gone, rows] of [
    [`${table}&run=${first}`, "monday", 0, 20],
    [table, "tuesday", 1, 19],
    // The newest run, whoever wrote it.
    [table, "monday", 1, 19],
  ] as const) {
    const diff = await said("diff", "first.csv", named, "--state-dir", state, "--json");
    expect(diff.split("\n").filter((line) => line.includes('"gone"'))).toHaveLength(gone);
    expect(await said("report", named, "--state-dir", state)).toContain(`against ${rows} (100%)`);
  }
});
