import { expect, onTestFinished, test } from "vitest";
import { runRepute } from "../helpers/run-repute.js";
import { serveHere } from "../helpers/serve-here.js";

const key = "rehearsal-key";

/** Starts `repute serve` with these flags; resolves to the base address of the intelligence API. */
async function serve(flags: readonly string[], env = {}): Promise<string> {
  const { line, stop } = await serveHere(flags, env);
  onTestFinished(() => void stop());
  return /^intel (\S+\/beta) /.exec(line)?.[1] ?? "";
}

const paths = ["query/192.0.2.1", "quick-check/192.0.2.1", "tags", "tags/a%3Ab", "tags/a%3Ab/ips"];

test("--api-key answers 403 without the key, except for the operations interface", async () => {
  const intelUrl = await serve(["--api-key", key]);
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
  const intelUrl = await serve([], env);
  const query = ["query", "192.0.2.1", "--intel-url", intelUrl];
  expect(await runRepute(query, { env })).toMatchObject({ code: 0 });
  expect(await runRepute(query)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("403 from the intelligence interface") as string,
  });
});

test("--blocklist-field names the member in full, partial and quick-check results", async () => {
  const intelUrl = await serve(["--blocklist-field", "abusixMailBlocklist"]);
  const statuses: number[] = [];
  for (const path of [
    "query/192.0.2.1",
    "query/203.0.113.50",
    "query/45.33.32.156",
    "quick-check/192.0.2.1",
    "quick-check/billing%40example.net",
  ]) {
    const answer = await fetch(`${intelUrl}/${path}`);
    const body = await answer.text();
    statuses.push(answer.status);
    expect([path, body]).toEqual([path, expect.stringContaining('"abusixMailBlocklist":"')]);
    expect([path, body]).not.toEqual([path, expect.stringContaining("serviceMailBlocklist")]);
  }
  expect(statuses).toEqual([200, 503, 200, 200, 200]);
});
