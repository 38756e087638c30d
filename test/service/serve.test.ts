import { expect, onTestFinished, test } from "vitest";
import { runRepute, startRepute } from "../helpers/run-repute.js";
import { serveHere } from "../helpers/serve-here.js";

/** Starts `repute serve` in this process; resolves to what it printed. */
async function serve(...given: Parameters<typeof serveHere>): Promise<string> {
  const { line, stop } = await serveHere(...given);
  onTestFinished(() => void stop());
  return line;
}

test("prints its address and serves there", async () => {
  const [, intelUrl] = /^intel (\S+\/beta) {2}ops (\S+) {2}case (\S+)\n/.exec(await serve()) ?? [];
  const answer = await fetch(`${intelUrl}/query/192.0.2.1`);
  expect(await answer.json()).toMatchObject({ statusCode: answer.status });
});

test("prints it as JSON with --json", async () => {
  const printed = JSON.parse(await serve(["--json"])) as object;
  expect(Object.keys(printed)).toEqual(["intel_url", "ops_url", "case_url"]);
});

test("ends with 0 on SIGTERM", async () => {
  const { child, waitFor, result } = startRepute(["serve"]);
  await waitFor("stdout", /^intel (\S+\/beta) /);
  child.kill("SIGTERM");
  expect(await result).toMatchObject({ code: 0, signal: null, stderr: "" });
});

test("ends with 1 if the port is taken", async () => {
  const [, port = ""] = /:(\d+)\/beta/.exec(await serve()) ?? [];
  const { code, stdout, stderr } = await runRepute(["serve", "--port", port]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain(`port ${port}: another program already listens there`);
});

test("warns when it listens beyond the loopback interface, even with --quiet", async () => {
  const { line, stop } = await serveHere(["--host", "0.0.0.0", "--quiet"]);
  const [, port = ""] = /:(\d+)\/beta/.exec(line) ?? [];
  expect((await stop()).stderr).toBe(
    `repute: warning: listening on 0.0.0.0, reachable from other machines: anyone who can connect to port ${port} can read the dataset, change cases and fire webhooks\n`,
  );
});

test.each([
  [
    ["--unavailable-rate", "1"],
    [503, 503],
  ],
  [
    ["--reset-rate", "1"],
    [null, null],
  ],
  [
    ["--malformed-rate", "1", "--seed", "7"],
    [200, 200],
  ],
  [
    ["--partial-rate", "1"],
    [503, 503],
  ],
  [
    ["--rate-limit", "1/h"],
    [200, 429],
  ],
])("misbehaves with %j", async (flags, expected) => {
  const { origin, stop } = await serveHere(flags);
  onTestFinished(() => void stop());
  const ask = () => fetch(`${origin}/beta/query/192.0.2.1`).catch(() => null);
  const [first, second] = [await ask(), await ask()];
  expect([first, second].map((answer) => answer?.status ?? null)).toEqual(expected);
  const { faults } = (await (await fetch(`${origin}/_local/stats`)).json()) as { faults: object };
  expect(Object.keys(faults)).toEqual([flags[0]!.slice("--".length).replace("-rate", "")]);
});
