import { describe, expect, test } from "vitest";
import { programInfo } from "../../src/core/program.js";
import { runRepute } from "../helpers/run-repute.js";
import { workspace } from "../helpers/workspace.js";
import { shellWords } from "../docs/shell-session.js";

test("prints the version", async () => {
  const stdout = `${programInfo().version}\n`;
  expect(await runRepute(["--version"])).toMatchObject({ code: 0, stdout, stderr: "" });
});

test("prints the help without arguments, with three commands to start with, which run", async () => {
  const { code, stdout } = await runRepute([]);
  expect([code, stdout.split("\n")[0]]).toEqual([0, "Usage: repute COMMAND [flags] [arguments]"]);
  const commands = stdout.match(/(?<=^ {2})repute .+$/gm) ?? [];
  expect(commands).toHaveLength(3);
  const { run } = await workspace({ FILE: "192.0.2.1\n" });
  for (const command of commands) {
    expect(await run(...command.split(" ").slice(1)), command).toMatchObject({ code: 0 });
  }
});

test.each(["enrich", "tags", "tags list"])("prints %s --help to stdout", async (name) => {
  const { code, stdout, stderr } = await runRepute([...name.split(" "), "--help"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout.startsWith(`Usage: repute ${name} `)).toBe(true);
});

describe("a usage error exits with 2 and names", () => {
  test.each([
    [
      ["enirch"],
      'repute: there is no command "enirch"\n  did you mean enrich?\n  see: repute --help\n',
    ],
    [
      ["enrich", "a.csv", "--local", "--retries", "many"],
      'repute: --retries must be a whole number; got "many"\n  see: repute enrich --help\n',
    ],
    [
      ["retry", "-", "--local"],
      "repute: retry reads an earlier output file, not stdin\n  save the output to a file, and name that file\n  see: repute retry --help\n",
    ],
    [["serve", "here"], "repute: serve takes no arguments; got here\n  see: repute serve --help\n"],
  ])("%j", async (args, stderr) => {
    expect(await runRepute(args)).toEqual({ code: 2, signal: null, stdout: "", stderr });
  });

  test.each(["--workers", "--config"])(
    "what gives a run several processes of one machine: %s",
    async (flag) => {
      const { run } = await workspace({ "2": "workers: 2\n" });
      const { code, stderr } = await run("enrich", "a.csv", "--local", flag, "2");
      expect(code).toBe(2);
      expect(stderr).toContain("must be redis://HOST[:PORT]/DB, or rediss:// for TLS; got ");
      expect(stderr).toContain(
        "start a Redis with redis-server, and for each worker: repute worker redis://127.0.0.1/0\n",
      );
    },
  );

  test("where a secret belongs, without repeating it", async () => {
    const { code, stderr } = await runRepute(["enrich", "a.csv", "--api-key", "k-12345"]);
    expect(code).toBe(2);
    expect(stderr).toContain("--api-key-file");
    expect(stderr).not.toContain("k-12345");
  });
});

test("the command proposed for several item columns has the user's own arguments, but no secret", async () => {
  const { run, read } = await workspace({ "a b.csv": "src ip,dst\n192.0.2.1,192.0.2.2\n" });
  const ping = ["--ping", "http://127.0.0.1:9/s3cret"];
  const args = ["enrich", "a b.csv", "-o", "out.csv", "--local", "--rate", "50/s", ...ping];
  const { code, stderr } = await run(...args);
  const command =
    "repute enrich 'a b.csv' -o out.csv --local --rate 50/s --ping 'http://127.0.0.1:9/***' --item-column 'src ip' --item-column dst";
  expect([code, stderr]).toEqual([2, expect.stringContaining(`look up all of them: ${command}\n`)]);
  const [, ...words] = shellWords(command);
  expect(await run(...words)).toMatchObject({ code: 0 });
  expect(await read("out.csv")).toMatch(/,src ip\n.*,dst\n/);
});

test("--json prints how a command ended that was called wrongly", async () => {
  const { run } = await workspace({ "hook.json": '{"name":"x","method":"POST","payload":{}}' });
  const check = await run("webhook", "check", "hook.json", "--json");
  const error = { code: "webhook_schema", message: "hook.json: /endpoint is missing", hint: null };
  const usage = { exit_reason: "usage", exit_code: 2, resumable: false };
  expect(check).toMatchObject({ code: 2, stdout: `${JSON.stringify({ ...usage, error })}\n` });
  expect(check.stderr).toMatch(/^repute: hook\.json: \/endpoint is missing\n/);
  const night = await run("enrich", "--config", "nope.yaml", "-o", "x.csv", "--json");
  expect([night.code, JSON.parse(night.stdout)]).toMatchObject([2, usage]);
});
