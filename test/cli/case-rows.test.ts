import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { readParquet } from "../io/output/tables/warehouse-readers.js";
import { reply, startScriptedServer } from "../helpers/scripted-server.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { failure } from "../client/api/answers.js";
import { runInProcess } from "./run-in-process.js";

const found = {
  id: "c-1",
  customer_id: "=HYPERLINK(0)",
  tenant_id: "+tenant",
  event_count: 7,
  event_types: ["@SUM(1)", "-2"],
  event_ips: ["=192.0.2.1"],
  first_event_date: "\tnow",
  last_event_date: "2024-05-30T21:40:08Z",
  state: "NEW",
};

async function enrichCase(asked: string, ...more: string[]) {
  const { url } = await startScriptedServer(({ path }) =>
    path.startsWith("/beta/guardian-ops/") ? reply(200, found) : reply(400, failure("no")),
  );
  const common = ["--quiet", "--max-failed", "100%", "--ops-url", url, "--intel-url", url];
  return runInProcess(["case", "enrich", asked, ...common, ...more]);
}

test.each([
  ["csv", ","],
  ["tsv", "\t"],
])("no field of a case runs as a formula in %s", async (to, delimiter) => {
  const { stdout } = await enrichCase("c-1", "--to", to);
  expect(parse(stdout, { columns: true, delimiter })).toMatchObject([
    {
      ip: "'=192.0.2.1",
      customer_id: "'=HYPERLINK(0)",
      tenant_id: "'+tenant",
      event_count: "7",
      event_types: "'@SUM(1)|-2",
      first_event_date: "'\tnow",
      state: "NEW",
    },
  ]);
});

test("fields stay verbatim in formats that no spreadsheet opens", async () => {
  const { stdout } = await enrichCase("c-1", "--to", "ndjson");
  expect(JSON.parse(stdout)).toMatchObject({ ip: "=192.0.2.1", customer_id: "=HYPERLINK(0)" });
  const output = join(await temporaryFolder(), "case.parquet");
  await enrichCase("c-1", "-o", output);
  expect(await readParquet(output)).toMatchObject([{ customer_id: "=HYPERLINK(0)" }]);
});

test.each([
  ["c-2", /^repute: warning: asked for case "c-2", the service answered with case "c-1"\n/],
  ["C-1", /^$/],
])("the answer c-1 to a request for %s causes the right warning", async (asked, said) => {
  expect((await enrichCase(asked)).stderr).toMatch(said);
});
