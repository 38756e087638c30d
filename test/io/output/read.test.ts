import { join } from "node:path";
import { expect, it } from "vitest";
import type { OutputRecord } from "../../../src/io/formats/types.js";
import { writeJsonFile } from "../../../src/core/files/json-file.js";
import { manifestPlace } from "../../../src/io/output/manifest-file.js";
import { parseOutput } from "../../../src/io/output/registry.js";
import { readOutput } from "../../../src/io/output/read.js";
import { publishRows } from "./publication/publishing.js";
import { anEnrichedRow } from "../../helpers/enriched-rows.js";
import { ipResult } from "../../client/api/answers.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const rowCount = 10_001;

/** Writes rows of one run as `enrich` does. */
async function write(output: string, runId: string, rows: number): Promise<void> {
  const batch = Array.from({ length: rows }, (_, index) => {
    const lookedUpAt = `2026-01-0${runId.length}T00:00:00.000Z`;
    const cells = [`host-${index + 1}`];
    return anEnrichedRow({ number: index + 1, cells }, { query: ipResult(), lookedUpAt });
  });
  await publishRows(output, await temporaryFolder(), batch, { runId });
}

async function read(output: string, prefix?: string, only?: readonly string[]) {
  const rows = await readOutput(parseOutput(output, "read"), prefix, only);
  const records: OutputRecord[] = [];
  for await (const list of rows.records) records.push(...list);
  return { columns: rows.columns, records };
}

it("reads every row of a Parquet file back in order, over row groups", async () => {
  const output = join(await temporaryFolder(), "out.parquet");
  await write(output, "a", rowCount);
  const { columns, records } = await read(output);
  expect(columns).toEqual(["ip"]);
  const hosts = Array.from({ length: rowCount }, (_, index) => `host-${index + 1}`);
  expect(records.map(({ cells }) => cells[0])).toEqual(hosts);
});

it("reads the newest run of a table unless told which", async () => {
  const output = `duckdb:${join(await temporaryFolder(), "out.duckdb")}?table=nightly`;
  await write(output, "a", 3);
  await write(output, "bb", 2);
  // Another machine has written the newest run.
  await writeJsonFile(manifestPlace(parseOutput(output)), { run_id: "a" });
  expect((await read(output)).records).toHaveLength(2);
  expect((await read(`${output}&run=a`)).records).toHaveLength(3);
  await expect(read(`${output}&run=c`)).rejects.toThrow("has no rows of the run c");
});

it("reads only the columns asked for", async () => {
  const output = join(await temporaryFolder(), "out.parquet");
  await write(output, "a", 1);
  const { columns, records } = await read(output, undefined, ["item", "status", "verdict"]);
  expect([columns, records[0]?.cells]).toEqual([[], []]);
  expect(records[0]?.text("verdict")).toBe("malicious");
});
