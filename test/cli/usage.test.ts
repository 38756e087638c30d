import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { programInfo } from "../../src/core/program.js";
import { runRepute } from "../helpers/run-repute.js";
import { runInProcess } from "../unit/cli/run-in-process.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

test.each([[["--version"]], [["-V"]], [["-v"]], [["version"]], [["enrich", "--version"]]])(
  "%j prints the version",
  async (args) => {
    const { version } = programInfo();
    expect(await runRepute(args)).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: "" });
  },
);

test("prints the help without arguments", async () => {
  const { code, stdout } = await runRepute([]);
  expect([code, stdout.split("\n")[0]]).toEqual([0, "Usage: repute COMMAND [flags] [arguments]"]);
});

describe("without arguments at a terminal", () => {
  test("shows four commands to go on with, which run", async () => {
    const { code, stdout } = await runInProcess([], { columns: 80 });
    const commands = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.trim().split(/ {2,}/)[0] ?? "");
    expect([code, commands]).toEqual([
      0,
      [
        "repute enrich FILE -o out.csv --local",
        "repute query 192.0.2.1 --local",
        "repute init",
        "repute --help",
      ],
    ]);
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, "FILE"), "192.0.2.1\n");
    for (const command of commands.filter((each) => each !== "repute init")) {
      expect(await runRepute(command.split(" ").slice(1), { cwd }), command).toMatchObject({
        code: 0,
      });
    }
  });
});

test.each(["enrich", "tags", "tags list", "case enrich", "webhook send", "schema", "serve"])(
  "prints %s --help to stdout",
  async (name) => {
    const { code, stdout, stderr } = await runRepute([...name.split(" "), "--help"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.startsWith(`Usage: repute ${name} `)).toBe(true);
  },
);

describe("-h", () => {
  test("shows at most 15 flags and two examples, and points to --help", async () => {
    const { stdout } = await runRepute(["enrich", "-h"]);
    const [, flags = "", examples = ""] = /\nFlags:\n(.*)\n\nExamples:\n(.*)$/s.exec(stdout) ?? [];
    expect(flags.match(/^ {2,6}-/gm)).toHaveLength(15);
    expect(examples.match(/^ {2}\S/gm)).toHaveLength(2);
    expect(stdout).toMatch(/`repute enrich --help` shows all \d+ flags/);
  });

  test("shows every flag of a command that has few", async () => {
    const { stdout } = await runRepute(["verify", "-h"]);
    for (const flag of ["--prefix", "--json", "--quiet", "--config"]) {
      expect(stdout).toContain(flag);
    }
  });
});

test("a file whose name begins with a dash is named as a path", async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "-dash.csv"), "ip\n192.0.2.1\n");
  expect(await runRepute(["enrich", "-dash.csv", "--local"], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("\n  for the file of that name: ./-dash.csv\n"),
  });
});

describe("a usage error exits with 2 and names", () => {
  test.each([
    [
      ["enirch"],
      'repute: there is no command "enirch"\n  did you mean enrich?\n  see: repute --help\n',
    ],
    [
      ["enrich", "a.csv", "--item-colum", "x"],
      "repute: enrich has no flag --item-colum\n  did you mean --item-column?\n  see: repute enrich --help\n",
    ],
    [
      ["enrich", "a.csv", "--local", "--retries", "many"],
      'repute: --retries must be a whole number; got "many"\n  see: repute enrich --help\n',
    ],
    [
      ["tags", "lst"],
      'repute: there is no command "tags lst"\n  did you mean tags list?\n  see: repute tags --help\n',
    ],
    [
      ["tags", "show", "--local"],
      "repute: tags show needs the name of a tag\n  to see all tags: repute tags list\n  see: repute tags show --help\n",
    ],
    [
      ["retry", "-", "--local"],
      "repute: retry reads an earlier output file, not stdin\n  save the rows to a file, and name that\n  see: repute retry --help\n",
    ],
    [["serve", "here"], "repute: serve takes no arguments; got here\n  see: repute serve --help\n"],
  ])("%j", async (args, stderr) => {
    expect(await runRepute(args)).toEqual({ code: 2, signal: null, stdout: "", stderr });
  });

  test("how to name a service when there is none", async () => {
    const { code, stderr } = await runRepute(["enrich", "a.csv"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/--intel-url.*REPUTE_INTEL_URL.*--local/);
  });

  test("the variable that is wrong", async () => {
    const env = { REPUTE_CONCURRENCY: "0" };
    const { code, stderr } = await runRepute(["enrich", "a.csv", "--local"], { env });
    expect([code, stderr.split("\n")[0]]).toEqual([
      2,
      'repute: REPUTE_CONCURRENCY must be at least 1; got "0"',
    ]);
  });

  test("the key of the configuration that is wrong", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "repute.json"), '{"fail-on": "sometimes"}');
    const args = ["query", "192.0.2.1", "--local", "--config", "repute.json"];
    const { code, stderr } = await runRepute(args, { cwd: folder });
    expect([code, stderr.split("\n")[0]]).toEqual([
      2,
      'repute: "fail-on" in repute.json:1:2 must be one of failed, partial, invalid, unsupported, never, optionally (except never) with a share such as unsupported:90%; got "sometimes"',
    ]);
  });

  test("what gives a run several processes of one machine", async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, "repute.yaml"), "workers: 2\n");
    const told = [
      "must be redis://HOST[:PORT]/DB, or rediss:// for TLS; got ",
      "start a Redis with redis-server, and for each worker: repute worker redis://127.0.0.1/0\n",
    ];
    for (const flags of [
      ["--workers", "2"],
      ["--config", "repute.yaml"],
    ]) {
      const { code, stderr } = await runRepute(["enrich", "a.csv", "--local", ...flags], { cwd });
      expect(code).toBe(2);
      for (const text of told) expect(stderr).toContain(text);
    }
  });

  test("where a secret belongs, without repeating it", async () => {
    const { code, stderr } = await runRepute(["enrich", "a.csv", "--api-key", "k-12345"]);
    expect(code).toBe(2);
    expect(stderr).toContain("REPUTE_API_KEY");
    expect(stderr).not.toContain("k-12345");
  });
});

test("--json prints how a command ended that was called wrongly", async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "hook.json"), '{"name":"x","method":"POST","payload":{}}');
  const check = await runRepute(["webhook", "check", "hook.json", "--json"], { cwd });
  const error = { code: "webhook_schema", message: "hook.json: /endpoint is missing", hint: null };
  const ending = { exit_reason: "usage", exit_code: 2, resumable: false, error };
  expect(check).toMatchObject({ code: 2, stdout: `${JSON.stringify(ending)}\n` });
  expect(check.stderr).toMatch(/^repute: hook\.json: \/endpoint is missing\n/);

  const run = await runRepute(["enrich", "--config", "nope.yaml", "-o", "x.csv", "--json"], {
    cwd,
  });
  expect([run.code, JSON.parse(run.stdout)]).toEqual([
    2,
    expect.objectContaining({ exit_reason: "usage", exit_code: 2, resumable: false }),
  ]);
});

test("warns about a mistyped variable", async () => {
  const env = { REPUTE_RETRYS: "1" };
  const { stderr } = await runRepute(["enrich", "a.csv"], { env });
  expect(stderr).toMatch(
    /^repute: warning: unknown variable REPUTE_RETRYS; did you mean REPUTE_RETRIES\?\n/,
  );
});

test("prints stack traces only on request", async () => {
  const quiet = await runRepute(["enirch"]);
  const debug = await runRepute(["enirch"], { env: { REPUTE_DEBUG: "1" } });
  expect([quiet.stderr.includes("    at "), debug.stderr.includes("    at ")]).toEqual([
    false,
    true,
  ]);
});
