import { expect, onTestFinished, test } from "vitest";
import { runRepute, startRepute } from "../helpers/run-repute.js";
import { serveHere } from "../helpers/serve-here.js";

/** Starts `repute serve` in this process; resolves to what it printed. */
async function serve(...given: Parameters<typeof serveHere>): Promise<string> {
  const { line, stop } = await serveHere(...given);
  onTestFinished(() => void stop());
  return line;
}

/** The base address of the intelligence API of a service with these flags. */
async function intelUrlOf(...given: Parameters<typeof serveHere>): Promise<string> {
  return /^intel (\S+\/beta) /.exec(await serve(...given))?.[1] ?? "";
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
  ["--unavailable-rate 1", 503, 503],
  ["--reset-rate 1", undefined, undefined],
  ["--malformed-rate 1 --seed 7", 200, 200],
  ["--partial-rate 1", 503, 503],
  ["--rate-limit 1/h", 200, 429],
])("answers with %s by %s, then %s", async (flags, ...statuses) => {
  const intelUrl = await intelUrlOf(flags.split(" "));
  const ask = () => fetch(`${intelUrl}/query/192.0.2.1`).catch(() => null);
  const [first, second] = [await ask(), await ask()];
  expect([first?.status, second?.status]).toEqual(statuses);
  const body = (await second?.text()) ?? "";
  expect(body.includes("partial_success")).toBe(flags === "--partial-rate 1");
});

const key = "rehearsal-key";

const paths = ["query/192.0.2.1", "quick-check/192.0.2.1", "tags", "tags/a%3Ab", "tags/a%3Ab/ips"];

test("--api-key answers 403 without the key, except for the operations interface", async () => {
  const intelUrl = await intelUrlOf(["--api-key", key]);
  const wrong: readonly Record<string, string>[] = [
    {},
    { "x-api-key": "other" },
    { authorization: `Bearer ${key}` },
  ];
  for (const headers of wrong) {
    for (const path of paths) {
      const answer = await fetch(`${intelUrl}/${path}`, { headers });
      const refused = [path, 403, { message: "Forbidden" }];
      expect([path, answer.status, await answer.json()]).toEqual(refused);
    }
  }
  const answer = await fetch(`${intelUrl}/query/192.0.2.1`, { headers: { "x-api-key": key } });
  expect(answer.status).toBe(200);
  const opsUrl = new URL("/beta/ops/customers", intelUrl);
  const headers = { authorization: "Bearer sample-access-token" };
  expect((await fetch(opsUrl, { headers })).status).toBe(200);
});

test("REPUTE_API_KEY replaces --api-key, on both sides", async () => {
  const env = { REPUTE_API_KEY: key };
  const intelUrl = await intelUrlOf([], env);
  const query = ["query", "192.0.2.1", "--intel-url", intelUrl];
  expect(await runRepute(query, { env })).toMatchObject({ code: 0 });
  expect(await runRepute(query)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("403 from the intelligence interface") as string,
  });
});

test("--blocklist-field names the member in full, partial and quick-check results", async () => {
  const intelUrl = await intelUrlOf(["--blocklist-field", "abusixMailBlocklist"]);
  for (const [path, status] of [
    ["query/192.0.2.1", 200],
    ["query/203.0.113.50", 503],
    ["query/45.33.32.156", 200],
    ["quick-check/192.0.2.1", 200],
    ["quick-check/billing%40example.net", 200],
  ] as const) {
    const answer = await fetch(`${intelUrl}/${path}`);
    const body = await answer.text();
    expect(answer.status, path).toBe(status);
    expect(body).toContain('"abusixMailBlocklist":"');
    expect(body).not.toContain("serviceMailBlocklist");
  }
});
