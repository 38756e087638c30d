import { writeFile } from "node:fs/promises";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { datasetOf } from "../helpers/dataset-of.js";
import { reply, startScriptedServer } from "../helpers/scripted-server.js";
import { runInProcess } from "./run-in-process.js";
import { runningService } from "../service/running-service.js";

const terminal = { columns: 100 };

function records(stdout: string): unknown[] {
  return stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as unknown);
}

/** Runs a command that must succeed without output on stderr; returns its lines as JSON. */
async function lines(...args: string[]): Promise<unknown[]> {
  const { code, stdout, stderr } = await runInProcess(args);
  expect([code, stderr]).toEqual([0, ""]);
  return records(stdout);
}

describe("tags", () => {
  test("list prints a line for each tag, with descriptions when told to", async () => {
    const tag = { name: "credentials:brute-force", intent: "malicious", category: "activity" };
    const tags = await lines("tags", "list", "--local");
    expect([tags.length, tags[0]]).toEqual([7, tag]);
    const [described] = await lines("tags", "list", "--descriptions", "--local");
    expect(described).toEqual({ ...tag, description: expect.any(String) as string });
  });

  test("show gives one tag with references and timeline, field by field on a terminal", async () => {
    const args = ["tags", "show", "credentials:brute-force", "--local"];
    const [tag] = await lines(...args);
    expect(tag).toMatchObject({
      name: "credentials:brute-force",
      references: [{}],
      timeline: [{}, {}],
    });
    const { stdout } = await runInProcess(args, terminal);
    expect(stdout).toMatch(/^references\[0\]\.url +https:\/\/www\.example\.org/m);
  });

  test("ips gives every address of a list of several pages, from one snapshot", async () => {
    const entries = Array.from({ length: 25_000 }, (_, at) => `2001:db8::${at.toString(16)}`);
    const tags = [{ tag: { name: "a:b" }, lastUpdate: "2024-01-01T00:00:00Z", entries }];
    const service = await runningService({ dataset: datasetOf({ tags }) });
    const ips = await lines("tags", "ips", "a:b", "--intel-url", service.intelUrl);
    const distinct = new Set(ips.map((line) => (line as { ip: string }).ip));
    const snapshots = new Set(ips.map((line) => (line as { snapshot: string }).snapshot));
    expect([ips.length, distinct.size, snapshots.size]).toEqual([25_000, 25_000, 1]);
    expect(Object.keys(ips[0] as object)).toEqual(["tag", "ip", "snapshot"]);
    expect(service.stats().requests["tag-ips"]?.total).toBe(3);
  });

  test("an unknown tag is reported in the service's words", async () => {
    const { code, stderr } = await runInProcess(["tags", "show", "no:such", "--local"]);
    expect(code).toBe(1);
    expect(stderr).toContain('refuses: tag "no:such" does not exist');
  });

  test.each([
    [["show"], "tags show needs NAME: name of the tag, <group>:<name>"],
    [["ips"], "tags ips needs NAME: name of the tag, <group>:<name>"],
    [["show", "a:b", "c:d"], "tags show takes only NAME; got a:b c:d"],
    [["list", "a:b"], "tags list takes no arguments; got a:b"],
  ])("%j is refused", async (args, message) => {
    const { code, stderr } = await runInProcess(["tags", ...args, "--local"]);
    expect([code, stderr.split("\n")[0]]).toEqual([2, `repute: ${message}`]);
  });
});

describe("customers", () => {
  test("prints all pages, a line for each customer", async () => {
    const customers = await lines("customers", "--local");
    expect([customers.length, customers[0]]).toEqual([
      7,
      { customer_id: "cust-1001", tenant_id: "tenant-a" },
    ]);
  });

  test("says how to set a missing token", async () => {
    const service = await runningService();
    const { code, stderr } = await runInProcess(["customers", "--ops-url", service.opsUrl]);
    expect(code).toBe(1);
    expect(stderr).toContain("Set REPUTE_ACCESS_TOKEN (or name the file");
  });

  test("obeys the rate", async () => {
    const { pauses } = await runInProcess(["customers", "--local", "--rate", "1/s"]);
    expect(pauses.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThanOrEqual(3000);
  });
});

describe("case", () => {
  const fields =
    "id customer_id tenant_id event_count event_types event_ips first_event_date last_event_date state".split(
      " ",
    );

  test("show prints the case", async () => {
    const [found] = await lines("case", "show", "case-2001", "--local");
    expect(Object.keys(found as object)).toEqual(fields);
  });

  test("context prints the context, and names each field on a terminal as a payload would", async () => {
    const args = ["case", "context", "case-2001", "--local"];
    const [found] = await lines(...args);
    expect(found).toMatchObject({ s: { resolver_data: { CustomerEmail: "ada@example.com" } } });
    const { stdout } = await runInProcess(args, terminal);
    expect(stdout).toMatch(/^s\.resolver_data\.Contract\.Start date +2021-04-01$/m);
  });

  test.each(["show", "context"])("%s reports an unknown case", async (name) => {
    const { code, stderr } = await runInProcess(["case", name, "nope", "--local"]);
    expect(code).toBe(1);
    expect(stderr).toContain("case nope: the");
    expect(stderr).toContain("answered 404 Not Found");
  });

  test("enrich prints a CSV row for each address, the fields of the case first", async () => {
    const args = ["case", "enrich", "case-2001", "--local", "--quiet"];
    const { code, stdout } = await runInProcess(args);
    const [header = "", ...rows] = stdout.trimEnd().split("\n");
    expect([code, rows.length]).toEqual([0, 3]);
    expect(header).toMatch(
      /^ip,id,customer_id,tenant_id,event_count,event_types,first_event_date,last_event_date,state,rep_item,/,
    );
    expect(rows[0]).toMatch(
      /^192\.0\.2\.1,case-2001,cust-1001,tenant-a,42,credentials:brute-force\|spam,2024-05-28T08:00:00Z,2024-05-30T21:40:08Z,NEW,192\.0\.2\.1,ip,complete,/,
    );
  });

  test("enrich keeps lists and numbers in NDJSON", async () => {
    const args = ["case", "enrich", "case-2001", "--local", "--quiet", "--to", "ndjson"];
    const { stdout } = await runInProcess(args);
    expect(records(stdout)[0]).toMatchObject({
      ip: "192.0.2.1",
      event_count: 42,
      event_types: ["credentials:brute-force", "spam"],
      rep: { status: "complete", query: { type: "IP" } },
    });
  });

  test("enrich keeps the case as received in the shape es-bulk", async () => {
    const args = ["case", "enrich", "case-2001", "--local", "--quiet", "--to", "es-bulk"];
    const [, row] = records((await runInProcess(args)).stdout);
    const input = {
      ip: "192.0.2.1",
      event_count: 42,
      event_types: ["credentials:brute-force", "spam"],
    };
    expect(row).toMatchObject({ repute: { row: 1, status: "complete", input } });
  });

  test("enrich of a case without addresses prints a header and no row", async () => {
    const args = ["case", "enrich", "case-2004", "--local", "-q"];
    const { code, stdout, stderr } = await runInProcess(args);
    expect([code, stdout.split("\n").length]).toEqual([0, 2]);
    expect(stderr).toMatch(/^repute: warning: case case-2004 has no addresses \(event_ips\)/);
    expect(await runInProcess([...args, "--min-rows", "1"])).toMatchObject({ code: 1 });
  });

  test("enrich contacts two addresses, each with its own credential", async () => {
    const [ops, intel] = [await runningService(), await runningService({ apiKey: "intel-key" })];
    const env = { REPUTE_API_KEY: "intel-key", REPUTE_ACCESS_TOKEN: "any" };
    const args = ["case", "enrich", "case-2001", "--quiet"];
    const addresses = ["--ops-url", ops.opsUrl, "--intel-url", intel.intelUrl];
    const { code } = await runInProcess([...args, ...addresses], { env });
    expect([code, Object.keys(ops.stats().requests), Object.keys(intel.stats().requests)]).toEqual([
      0,
      ["rep-share-case"],
      ["query", "quick-check"],
    ]);
  });
});

describe("webhook", () => {
  const notify = "samples/webhooks/notify-crm.json";
  const chat = "samples/webhooks/chat-message.json";
  const ofCase = ["--case", "case-2001", "--local"];

  test("check without a case notes what it could not compare", async () => {
    const { code, stdout, stderr } = await runInProcess(["webhook", "check", notify]);
    expect([code, stdout]).toEqual([0, ""]);
    expect(stderr).toMatch(
      /^repute: note: without a case, fields and static subscriber data were not checked; add --case ID/,
    );
  });

  test("check prints and notes nothing without problems", async () => {
    const silent = { code: 0, stdout: "", stderr: "" };
    const args = ["webhook", "check", chat, ...ofCase];
    expect(await runInProcess(args)).toMatchObject(silent);
  });

  test("check reports a field missing from the case, with existing ones", async () => {
    const args = ["webhook", "check", notify, ...ofCase];
    const { code, stdout } = await runInProcess(args);
    expect([code, records(stdout)]).toMatchObject([
      1,
      [
        {
          webhook: "Notify CRM",
          level: "error",
          code: "unknown_field",
          pointer: "/payload/note",
          message: expect.stringContaining("s.resolver_data.CustomerEmail") as string,
        },
      ],
    ]);
  });

  test("check warns about subscriber data as static text", async () => {
    const file = "samples/webhooks/static-subscriber.json";
    const problems = await lines("webhook", "check", file, ...ofCase);
    expect(problems).toMatchObject([
      { level: "warning", code: "static_data" },
      { level: "warning", code: "static_data" },
      { level: "warning", code: "static_data" },
    ]);
  });

  test("check is a table on a terminal, with counts on stderr", async () => {
    const args = ["webhook", "check", notify, ...ofCase];
    const { stderr } = await runInProcess(args, terminal);
    expect(stderr).toBe("1 error, 0 warnings\n");
  });

  test("send without a case is refused", async () => {
    const { code, stderr } = await runInProcess(["webhook", "send", notify]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("--case ID")]);
  });

  test("send --dry-run shows the request and sends nothing", async () => {
    const [request] = await lines("webhook", "send", chat, ...ofCase, "--dry-run");
    expect(request).toMatchObject({
      webhook: "Chat message",
      method: "PUT",
      url: "https://chat.example.net/hooks/abuse",
      headers: { "content-type": "text/plain; charset=utf-8" },
      body: "Abuse case of Ada Example <ada@example.com> needs a look.",
    });
  });

  test.each([undefined, 100])(
    "send --dry-run shows that a key would be sent, but not the key (%s columns)",
    async (columns) => {
      const { url } = await startScriptedServer([reply(200, {})]);
      const file = join(await temporaryFolder(), "hook.json");
      const hook = { name: "n", endpoint: url, method: "POST", payload: {} };
      await writeFile(file, JSON.stringify(hook));
      const args = ["webhook", "send", file, "--case", "c", "--case-url", url, "--dry-run"];
      const env = { REPUTE_CASE_API_KEY: "key-123" };
      const { stdout } = await runInProcess(args, { env, ...(columns && { columns }) });
      expect(stdout).toMatch(/authorization"?: *"?|headers\.authorization {2}/);
      expect(stdout).toContain("Bearer [hidden]");
      expect(stdout).not.toContain("key-123");
    },
  );
});

test("schema lists the formats if none is given", async () => {
  const { code, stderr } = await runInProcess(["schema"]);
  expect(code).toBe(2);
  expect(stderr).toContain(
    "--format with one of manifest, json-schema, postgres, duckdb, bigquery",
  );
});
