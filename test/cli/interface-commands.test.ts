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

/** Runs a command as typed. */
function run(line: string, options: Parameters<typeof runInProcess>[1] = {}) {
  return runInProcess(line.split(" "), options);
}

/** Runs a command that must succeed without output on stderr; returns its lines as JSON. */
async function lines(line: string): Promise<unknown[]> {
  const { code, stdout, stderr } = await run(line);
  expect([code, stderr]).toEqual([0, ""]);
  return records(stdout);
}

describe("tags", () => {
  test("list prints a line for each tag, with descriptions when told to", async () => {
    const tag = { name: "credentials:brute-force", intent: "malicious", category: "activity" };
    const tags = await lines("tags list --local");
    expect([tags.length, tags[0]]).toEqual([7, tag]);
    const [described] = await lines("tags list --descriptions --local");
    expect(described).toEqual({ ...tag, description: expect.any(String) as string });
  });

  test("show gives one tag with references and timeline, field by field on a terminal", async () => {
    const name = "credentials:brute-force";
    const [tag] = await lines(`tags show ${name} --local`);
    expect(tag).toMatchObject({ name, references: [{}], timeline: [{}, {}] });
    const { stdout } = await run(`tags show ${name} --local`, terminal);
    expect(stdout).toMatch(/^references\[0\]\.url +https:\/\/www\.example\.org/m);
  });

  test("ips gives every address of a list of several pages, from one snapshot", async () => {
    const entries = Array.from({ length: 25_000 }, (_, at) => `2001:db8::${at.toString(16)}`);
    const tags = [{ tag: { name: "a:b" }, lastUpdate: "2024-01-01T00:00:00Z", entries }];
    const service = await runningService({ dataset: datasetOf({ tags }) });
    const ips = await lines(`tags ips a:b --intel-url ${service.intelUrl}`);
    const distinct = new Set(ips.map((line) => (line as { ip: string }).ip));
    const snapshots = new Set(ips.map((line) => (line as { snapshot: string }).snapshot));
    expect([ips.length, distinct.size, snapshots.size]).toEqual([25_000, 25_000, 1]);
    expect(Object.keys(ips[0] as object)).toEqual(["tag", "ip", "snapshot"]);
    expect(service.stats().requests["tag-ips"]?.total).toBe(3);
  });

  test.each([
    ["show no:such", 1, /refuses: tag "no:such" does not exist/],
    ["show", 2, /^repute: tags show needs NAME: name of the tag, <group>:<name>\n/],
    ["ips", 2, /^repute: tags ips needs NAME: name of the tag, <group>:<name>\n/],
    ["show a:b c:d", 2, /^repute: tags show takes only NAME; got a:b c:d\n/],
    ["list a:b", 2, /^repute: tags list takes no arguments; got a:b\n/],
  ])("%s ends with %i and the reason", async (line, code, message) => {
    const stderr = expect.stringMatching(message) as string;
    expect(await run(`tags ${line} --local`)).toMatchObject({ code, stderr });
  });
});

describe("customers", () => {
  test("prints all pages, a line for each customer", async () => {
    const customers = await lines("customers --local");
    expect(customers).toHaveLength(7);
    expect(customers[0]).toEqual({ customer_id: "cust-1001", tenant_id: "tenant-a" });
  });

  test("says how to set a missing token", async () => {
    const service = await runningService();
    const stderr = expect.stringContaining("Set REPUTE_ACCESS_TOKEN (or name the file") as string;
    expect(await run(`customers --ops-url ${service.opsUrl}`)).toMatchObject({ code: 1, stderr });
  });

  test("obeys the rate", async () => {
    const { pauses } = await run("customers --local --rate 1/s");
    expect(pauses.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThanOrEqual(3000);
  });
});

describe("case", () => {
  const enrich = "case enrich case-2001 --local --quiet";

  test("show prints the case", async () => {
    const [found] = await lines("case show case-2001 --local");
    expect(Object.keys(found as object).join(" ")).toBe(
      "id customer_id tenant_id event_count event_types event_ips first_event_date last_event_date state",
    );
  });

  test("context prints the context, and names each field on a terminal as a payload would", async () => {
    const [found] = await lines("case context case-2001 --local");
    expect(found).toMatchObject({ s: { resolver_data: { CustomerEmail: "ada@example.com" } } });
    const { stdout } = await run("case context case-2001 --local", terminal);
    expect(stdout).toMatch(/^s\.resolver_data\.Contract\.Start date +2021-04-01$/m);
  });

  test.each(["show", "context"])("%s reports an unknown case", async (name) => {
    const stderr = expect.stringMatching(/case nope: the .*answered 404 Not Found/) as string;
    expect(await run(`case ${name} nope --local`)).toMatchObject({ code: 1, stderr });
  });

  test("enrich prints a CSV row for each address, the fields of the case first", async () => {
    const { code, stdout } = await run(enrich);
    const [header = "", ...rows] = stdout.trimEnd().split("\n");
    expect([code, rows.length]).toEqual([0, 3]);
    expect(header).toMatch(
      /^ip,id,customer_id,tenant_id,event_count,event_types,first_event_date,last_event_date,state,rep_item,/,
    );
    expect(rows[0]).toMatch(
      /^192\.0\.2\.1,case-2001,cust-1001,tenant-a,42,credentials:brute-force\|spam,2024-05-28T08:00:00Z,2024-05-30T21:40:08Z,NEW,192\.0\.2\.1,ip,complete,/,
    );
  });

  test("enrich keeps lists and numbers in NDJSON, and the case as received for es-bulk", async () => {
    const types = ["credentials:brute-force", "spam"];
    const input = { ip: "192.0.2.1", event_count: 42, event_types: types };
    const [row] = records((await run(`${enrich} --to ndjson`)).stdout);
    expect(row).toMatchObject({ ...input, rep: { status: "complete", query: { type: "IP" } } });
    const [, document] = records((await run(`${enrich} --to es-bulk`)).stdout);
    expect(document).toMatchObject({ repute: { row: 1, status: "complete", input } });
  });

  test("enrich of a case without addresses prints a header and no row", async () => {
    const line = "case enrich case-2004 --local -q";
    const { code, stdout, stderr } = await run(line);
    expect([code, stdout.split("\n").length]).toEqual([0, 2]);
    expect(stderr).toMatch(/^repute: warning: case case-2004 has no addresses \(event_ips\)/);
    expect(await run(`${line} --min-rows 1`)).toMatchObject({ code: 1 });
  });

  test("enrich contacts two addresses, each with its own credential", async () => {
    const [ops, intel] = [await runningService(), await runningService({ apiKey: "intel-key" })];
    const env = { REPUTE_API_KEY: "intel-key", REPUTE_ACCESS_TOKEN: "any" };
    const line = "case enrich case-2001 --quiet";
    const addresses = `--ops-url ${ops.opsUrl} --intel-url ${intel.intelUrl}`;
    expect(await run(`${line} ${addresses}`, { env })).toMatchObject({ code: 0 });
    expect(Object.keys(ops.stats().requests)).toEqual(["rep-share-case"]);
    expect(Object.keys(intel.stats().requests)).toEqual(["query", "quick-check"]);
  });
});

describe("webhook", () => {
  const notify = "samples/webhooks/notify-crm.json";
  const chat = "samples/webhooks/chat-message.json";
  const ofCase = "--case case-2001 --local";

  test("check without a case notes what it could not compare", async () => {
    const note =
      /^repute: note: without a case, fields and static subscriber data were not checked; add --case ID/;
    const stderr = expect.stringMatching(note) as string;
    expect(await run(`webhook check ${notify}`)).toMatchObject({ code: 0, stdout: "", stderr });
  });

  test("check prints and notes nothing without problems", async () => {
    expect(await lines(`webhook check ${chat} ${ofCase}`)).toEqual([]);
  });

  test("check reports a field missing from the case, with existing ones", async () => {
    const line = `webhook check ${notify} ${ofCase}`;
    const { code, stdout } = await run(line);
    const problem = {
      webhook: "Notify CRM",
      level: "error",
      code: "unknown_field",
      pointer: "/payload/note",
      message: expect.stringContaining("s.resolver_data.CustomerEmail") as string,
    };
    expect([code, records(stdout)]).toMatchObject([1, [problem]]);
    // A table has the counts below it.
    expect((await run(line, terminal)).stderr).toBe("1 error, 0 warnings\n");
  });

  test("check warns about subscriber data as static text", async () => {
    const problems = await lines(`webhook check samples/webhooks/static-subscriber.json ${ofCase}`);
    const warning = { level: "warning", code: "static_data" };
    expect(problems).toMatchObject([warning, warning, warning]);
  });

  test("send --dry-run shows the request and sends nothing", async () => {
    const [request] = await lines(`webhook send ${chat} ${ofCase} --dry-run`);
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
      const line = `webhook send ${file} --case c --case-url ${url} --dry-run`;
      const env = { REPUTE_CASE_API_KEY: "key-123" };
      const { stdout } = await run(line, { env, ...(columns && { columns }) });
      expect(stdout).toMatch(/authorization"?: *"?|headers\.authorization {2}/);
      expect(stdout).toContain("Bearer [hidden]");
      expect(stdout).not.toContain("key-123");
    },
  );
});

test.each([
  ["schema", "--format with one of manifest, json-schema, postgres, duckdb, bigquery"],
  ["webhook send samples/webhooks/notify-crm.json", "--case ID"],
])("%s says what it needs", async (line, message) => {
  const stderr = expect.stringContaining(message) as string;
  expect(await run(line)).toMatchObject({ code: 2, stderr });
});
