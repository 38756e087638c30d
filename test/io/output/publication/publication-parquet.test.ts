import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { asyncBufferFromFile, parquetMetadataAsync } from "hyparquet";
import { expect, it } from "vitest";
import { anEnrichedRow } from "../../../helpers/enriched-rows.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { openRun, publishRows, someRows } from "./publishing.js";

it("appears by rename, with a suffix if the run has too many failures", async () => {
  const { folder, file } = await aPlace();
  const { sink } = await openRun(file, folder);
  await sink.write(someRows(1, 25));
  expect(await readdir(folder)).toEqual(["state"]);
  await sink.publish(".failed");
  expect(await readdir(folder)).toEqual(["out.parquet.failed", "state"]);
});

it("ends a row group after 10,000 rows, and early if its cells are large", async () => {
  const { folder, file } = await aPlace();
  await publishRows(file, folder, someRows(1, 10_001));
  expect(await groupSizes(file)).toEqual([10_000, 1]);
  const large = "x".repeat(4 * 1024 * 1024);
  const rows = [1, 2, 3, 4, 5].map((number) => anEnrichedRow({ number, cells: [large] }));
  await publishRows(file, folder, rows);
  expect(await groupSizes(file)).toEqual([2, 2, 1]);
});

it("records its writer", async () => {
  const { folder, file } = await aPlace();
  await publishRows(file, folder, []);
  const metadata = await parquetMetadataAsync(await asyncBufferFromFile(file));
  expect(metadata.created_by).toMatch(/^repute version \d/);
});

async function aPlace(): Promise<{ folder: string; file: string }> {
  const folder = await temporaryFolder();
  return { folder, file: join(folder, "out.parquet") };
}

async function groupSizes(file: string): Promise<readonly number[]> {
  const metadata = await parquetMetadataAsync(await asyncBufferFromFile(file));
  return metadata.row_groups.map((group) => Number(group.num_rows));
}
