import { existsSync } from "node:fs";
import { readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { asyncBufferFromFile, parquetMetadataAsync } from "hyparquet";
import { expect, it } from "vitest";
import { schemaVersion } from "../../src/core/columns.js";
import { openParquet } from "../../src/outputs/parquet/open-parquet.js";
import type { SinkPosition } from "../../src/outputs/types.js";
import { parseParquetTarget } from "../../src/outputs/warehouse/target.js";
import type { OpenedWarehouse } from "../../src/outputs/warehouse/types.js";
import { anEnrichedRow } from "../helpers/enriched-rows.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { someCells, someOptions, someRows } from "./warehouse-opening.js";
import { queryDuckdb, readParquet } from "./warehouse-readers.js";

/** Small row groups, so that few rows fill several. */
const bounds = { rows: 10, characters: 5_000 };

it("shows nothing under its name before it is complete", async () => {
  const { file, opened } = await open();
  await opened.sink.write(someRows(1, 25));
  await opened.sink.checkpoint();
  await opened.audit();
  expect(existsSync(file)).toBe(false);
  await opened.sink.finish();
  expect(existsSync(`${file}.part`)).toBe(false);
  expect(existsSync(file)).toBe(true);
});

it("doesn't end a row group at a checkpoint", async () => {
  const { file, opened } = await open();
  for (let number = 1; number <= 25; number++) {
    await opened.sink.write(someRows(number, number));
    await opened.sink.checkpoint();
  }
  await opened.sink.finish();
  expect(await groupSizes(file)).toEqual([10, 10, 5]);
});

it("ends a row group early if its cells are large", async () => {
  const { file, opened } = await open();
  const large = "x".repeat(2_000);
  await opened.sink.write(
    [1, 2, 3, 4, 5].map((number) => anEnrichedRow({ number, cells: [large] })),
  );
  await opened.sink.finish();
  expect(await groupSizes(file)).toEqual([3, 2]);
});

it("is identical with and without an interruption", async () => {
  const whole = await open();
  await whole.opened.sink.write(someRows(1, 34));
  await whole.opened.sink.finish();

  const { file, folder, opened } = await open();
  await opened.sink.write(someRows(1, 13));
  const first = await opened.sink.checkpoint();
  await opened.sink.write(someRows(14, 31));
  await opened.sink.abandon();
  const again = await open(folder, first);
  await again.opened.sink.write(someRows(14, 17));
  const second = await again.opened.sink.checkpoint();
  await again.opened.sink.abandon();
  const last = await open(folder, second);
  await last.opened.sink.write(someRows(18, 34));
  await last.opened.sink.finish();

  expect(await groupSizes(file)).toEqual(await groupSizes(whole.file));
  expect(await readParquet(file)).toEqual(await readParquet(whole.file));
  expect((await stat(file)).size).toBe((await stat(whole.file)).size);
});

it("resumes from a checkpoint before the last one", async () => {
  const { file, folder, opened } = await open();
  await opened.sink.write(someRows(1, 4));
  const known = await opened.sink.checkpoint();
  await opened.sink.write(someRows(5, 27));
  await opened.sink.checkpoint();
  await opened.sink.abandon();
  const again = await open(folder, known);
  await again.opened.sink.write(someRows(5, 12));
  await again.opened.sink.finish();
  expect((await readParquet(file)).map((row) => row["ip"])).toEqual(someCells(1, 12));
});

it("deletes side files that no checkpoint needs", async () => {
  const { folder, opened } = await open();
  for (let number = 1; number <= 95; number++) {
    await opened.sink.write(someRows(number, number));
    await opened.sink.checkpoint();
  }
  const kept = (await readdir(join(folder, "state"))).filter((name) => name.includes("rows"));
  expect(kept.length).toBeLessThanOrEqual(2);
  await opened.sink.abandon();
});

it("refuses to continue with a truncated part", async () => {
  const { file, folder, opened } = await open();
  await opened.sink.write(someRows(1, 15));
  const position = await opened.sink.checkpoint();
  await opened.sink.abandon();
  await truncate(`${file}.part`, 100);
  await expect(open(folder, position)).rejects.toMatchObject({ code: "output_part_gone" });
});

it.each(["parquet-groups.ndjson", "parquet-rows-1.ndjson"])(
  "refuses to continue if any byte of %s has changed",
  async (name) => {
    const { folder, opened } = await open();
    await opened.sink.write(someRows(1, 15));
    const position = await opened.sink.checkpoint();
    await opened.sink.abandon();
    const path = join(folder, "state", name);
    const whole = await readFile(path);
    for (let at = 0; at < whole.length; at += 1 + Math.floor(whole.length / 100)) {
      const damaged = Buffer.from(whole);
      damaged[at]! ^= 1 + (at % 255);
      for (const bytes of [damaged, whole.subarray(0, at)]) {
        await writeFile(path, bytes);
        await expect(open(folder, position)).rejects.toMatchObject({
          code: "output_state_damaged",
          message: expect.stringMatching(
            `${name} is damaged at line \\d+ \\(byte \\d+\\): `,
          ) as string,
          hint: "start over with --restart",
        });
      }
    }
    await rm(path);
    await expect(open(folder, position)).rejects.toMatchObject({
      code: "output_state_damaged",
      message: `${path} is missing`,
    });
    await writeFile(path, whole);
    await (await open(folder, position)).opened.sink.abandon();
  },
);

it("preserves microseconds", async () => {
  const { file, opened } = await open();
  const firstSeen = "2025-01-01T00:00:00.123456Z";
  await opened.sink.write([anEnrichedRow({}, { query: { firstSeen } })]);
  await opened.sink.finish();
  const [row] = await queryDuckdb(`SELECT rep_first_seen AS t FROM read_parquet('${file}')`);
  expect(row?.["t"]).toBe(BigInt(Date.parse("2025-01-01T00:00:00.123Z")) * 1000n + 456n);
});

it("records its writer, run and schema version", async () => {
  const { file, opened } = await open();
  await opened.sink.finish();
  const metadata = await parquetMetadataAsync(await asyncBufferFromFile(file));
  expect(metadata.created_by).toMatch(/^repute version \d/);
  expect(metadata.key_value_metadata).toEqual([
    { key: "repute.schema_version", value: String(schemaVersion) },
    { key: "repute.run_id", value: "00000000-0000-4000-8000-000000000001" },
  ]);
});

it("detects damage", async () => {
  const { file, opened } = await open();
  await opened.sink.write(someRows(1, 25));
  await opened.audit();
  await truncate(`${file}.part`, 3_000);
  await expect(opened.audit()).rejects.toMatchObject({ code: "output_corrupt" });
  await opened.sink.abandon();
});

it("reports a missing folder", async () => {
  const folder = await temporaryFolder();
  const target = parseParquetTarget(join(folder, "absent", "out.parquet"))!;
  await expect(openParquet(target, await someOptions(folder))).rejects.toMatchObject({
    code: "output_folder_missing",
  });
});

async function open(
  existing?: string,
  resume: SinkPosition | null = null,
): Promise<{ folder: string; file: string; opened: OpenedWarehouse }> {
  const folder = existing ?? (await temporaryFolder());
  const file = join(folder, "out.parquet");
  const options = await someOptions(folder, { resume });
  return { folder, file, opened: await openParquet(parseParquetTarget(file)!, options, bounds) };
}

async function groupSizes(file: string): Promise<readonly number[]> {
  const metadata = await parquetMetadataAsync(await asyncBufferFromFile(file));
  return metadata.row_groups.map((group) => Number(group.num_rows));
}
