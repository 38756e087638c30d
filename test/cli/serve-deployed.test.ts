import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runRepute } from "../helpers/run-repute.js";
import { serveHere } from "../helpers/serve-here.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

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

test("writes the same rows whatever the member is called", async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "key"), `${key}\n`, { mode: 0o600 });
  const stdin = "item\n192.0.2.1\n203.0.113.50\nlogin.example.com\n45.33.32.156\n";
  const enrich = async (...flags: readonly string[]) =>
    (
      await runRepute(["enrich", "--to", "ndjson", "--shape", "flat", ...flags], { stdin, cwd })
    ).stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .map(({ rep_item, rep_status, rep_mail_blocklist, rep_quick_mail_blocklist }) => [
        rep_item,
        rep_status,
        rep_mail_blocklist,
        rep_quick_mail_blocklist,
      ]);
  const deployed = await serve(["--api-key", key, "--blocklist-field", "abusixMailBlocklist"]);
  const rows = await enrich("--intel-url", deployed, "--api-key-file", "key");
  expect(rows).toHaveLength(4);
  expect(rows).toEqual(await enrich("--local"));
});

test("refuses an unknown --blocklist-field and lists the known names", async () => {
  const { code, stderr } = await runRepute(["serve", "--blocklist-field", "mailBlocklist"]);
  expect(code).toBe(2);
  expect(stderr).toContain("serviceMailBlocklist, abusixMailBlocklist");
});

test("refuses a key that a header cannot hold and does not print it", async () => {
  const { code, stderr } = await runRepute(["serve", "--api-key", "first secret"]);
  expect(code).toBe(2);
  expect(stderr).toContain("--api-key must be one line of ASCII without spaces");
  expect(stderr).not.toContain("first");
});

test("refuses the key in the config file", async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "repute.json"), `{"api-key": "${key}"}`);
  const { code, stderr } = await runRepute(["serve", "--config", "repute.json"], { cwd });
  expect(code).toBe(2);
  expect(stderr).toContain('repute.json:1:2 must not hold the secret "api-key"');
  expect(stderr).not.toContain(key);
});
