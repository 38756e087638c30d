import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/core/clock.js";
import type { Column } from "../../../../src/core/column.js";
import { columns as addedColumns } from "../../../../src/core/columns.js";
import type { EnrichedRow } from "../../../../src/core/row.js";
import type { PublisherOptions } from "../../../../src/io/output/publisher.js";
import { leadingNames } from "../../../../src/io/output/typed/table-schema.js";
import { anEnrichedRow } from "../../../helpers/enriched-rows.js";
import { ipResult } from "../../../client/api/answers.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import {
  noManifest,
  openPlace,
  openRun,
  publishedAt,
  publishRows,
  someCells,
  someRows,
  stageOf,
} from "./publishing.js";
import type { ReadRow } from "../tables/warehouse-readers.js";

/** Where runs are published, and how a test reads it without repute. */
export interface PublicationPlace {
  readonly name: string;
  /** Value of `-o` for a new output in this folder. */
  readonly output: (folder: string) => string;
  /** All rows of all runs, ordered by run and `rep_row`; none if there is nothing to read. */
  readonly read: (folder: string) => Promise<readonly ReadRow[]>;
  /** Whether a run is added to earlier ones. */
  readonly appends: boolean;
  /** Longest name of an input column in bytes; longer ones are rejected. @default no limit */
  readonly maxNameLength?: number;
}

/** The contract of every publication. */
export function describePublication(place: PublicationPlace): void {
  const { name, output, read, appends } = place;
  const publish = (folder: string, rows: Parameters<typeof publishRows>[2], runId = "run 1") =>
    publishRows(output(folder), folder, rows, { runId });
  const cellsIn = async (folder: string) => (await read(folder)).map((row) => row["ip"]);

  describe(`every publication keeps the contract: ${name}`, () => {
    it("shows nothing before it is committed, and then all rows in their order", async () => {
      const folder = await temporaryFolder();
      const { sink } = await openRun(output(folder), folder);
      expect(await read(folder)).toEqual([]);
      for (let first = 1; first <= 2_500; first += 500) {
        await sink.write(someRows(first, first + 499));
      }
      await sink.checkpoint();
      expect(await read(folder)).toEqual([]);
      expect(await sink.publish()).toMatchObject({ rows: 2_500 });
      expect(await cellsIn(folder)).toEqual(someCells(1, 2_500));
    });

    it("is readable without rows", async () => {
      const folder = await temporaryFolder();
      expect(await publish(folder, [])).toMatchObject({ rows: 0 });
      expect(await read(folder)).toEqual([]);
    });

    it("is the same when it is published again", async () => {
      const folder = await temporaryFolder();
      const { publisher, sink } = await openRun(output(folder), folder);
      await sink.write(someRows(1, 1_500));
      const position = await sink.checkpoint();
      const written = await sink.publish();
      const first = await read(folder);
      expect(first).toHaveLength(1_500);
      const stage = stageOf(publisher, position);
      // By the same process, and later by one that finds the run finished.
      const later = await openPlace(output(folder), folder, { clock: systemClock });
      for (const again of [publisher, later]) {
        expect(await again.publish(stage, noManifest)).toEqual(written);
        expect(await read(folder)).toEqual(first);
      }
    });

    it(`${appends ? "adds a run to" : "replaces"} an earlier one`, async () => {
      const folder = await temporaryFolder();
      await publish(folder, someRows(1, 30));
      await publish(folder, someRows(31, 50), "run 2");
      expect(await cellsIn(folder)).toEqual(someCells(appends ? 1 : 31, 50));
    });

    it("continues after its checkpoint without losing or doubling a row", async () => {
      const folder = await temporaryFolder();
      const first = await openRun(output(folder), folder);
      await first.sink.write(someRows(1, 7));
      const position = await first.sink.checkpoint();
      expect(first.publisher.describe().takesParts).toBe(appends);
      if (appends) await first.sink.publish();
      expect(await cellsIn(folder)).toEqual(appends ? someCells(1, 7) : []);
      await first.sink.write(someRows(8, 9));
      await first.sink.abandon();
      const second = await openRun(output(folder), folder, {}, position);
      await second.sink.write(someRows(8, 20));
      expect(await second.sink.publish()).toMatchObject({ rows: 20 });
      expect(await cellsIn(folder)).toEqual(someCells(1, 20));
    });

    it("publishes no row if one of them was changed meanwhile", async () => {
      const folder = await temporaryFolder();
      await publish(folder, someRows(1, 3));
      const { publisher, sink } = await openRun(output(folder), folder, { runId: "run 2" });
      await sink.write(someRows(4, 1_500));
      const { path } = stageOf(publisher, await sink.checkpoint());
      const bytes = await readFile(path);
      const found = bytes.indexOf("cell 1499");
      bytes[found < 0 ? bytes.length >> 1 : found]! ^= 0x20;
      await writeFile(path, bytes);
      for (let times = 0; times < 2; times++) {
        await expect(sink.publish()).rejects.toMatchObject({ code: "output_part_damaged" });
      }
      await sink.abandon();
      expect(await cellsIn(folder)).toEqual(someCells(1, 3));
    });

    it("stores cells of one megabyte", async () => {
      const folder = await temporaryFolder();
      const large = "ä".repeat(512 * 1024);
      const cells = Array.from({ length: 4 }, (_, index) => large + (index + 1));
      await publish(
        folder,
        cells.map((cell, index) => anEnrichedRow({ number: index + 1, cells: [cell] })),
      );
      expect(await cellsIn(folder)).toEqual(cells);
    });
  });
}

/** The contract of every publication with typed columns. */
export function describeTypedColumns(place: PublicationPlace): void {
  const { name, output, read, maxNameLength = Number.POSITIVE_INFINITY } = place;

  describe(`typed columns: ${name}`, () => {
    it("stores every column with its type", async () => {
      const row = anEnrichedRow({ cells: ["192.0.2.1", ""] }, { query: ipResult(), quickCheck });
      const { rows } = await publish([row], { columns: ["ip", "note"] });
      const added = addedColumns.map((column) => [`rep_${column.name}`, storedValue(column, row)]);
      expect(rows).toEqual([
        {
          rep_run_id: "00000000-0000-4000-8000-000000000001",
          rep_row: 1n,
          rep_loaded_at: micros(publishedAt),
          ip: "192.0.2.1",
          note: "",
          ...Object.fromEntries(added),
        },
      ]);
    });

    it("stores null for unknown values, and an empty list for no values", async () => {
      const { rows } = await publish([
        anEnrichedRow({ number: 1 }, { lookedUpAt: null }, null),
        anEnrichedRow({ number: 2 }, { query: { tags: [] } }),
      ]);
      expect(rows[0]).toMatchObject({ rep_item: null, rep_tags: null, rep_looked_up_at: null });
      expect(rows[1]).toMatchObject({ rep_tags: [] });
    });

    it("stores columns under unique names", async () => {
      const columns = hostileNames.filter((column) => Buffer.byteLength(column) <= maxNameLength);
      const cells = columns.map((_, n) => `cell ${n}`);
      const { rows } = await publish([anEnrichedRow({ cells })], { columns });
      const values = Object.values(rows[0] ?? {});
      const first = leadingNames.length;
      expect(values.slice(first, first + columns.length)).toEqual(cells);
      expect(values).toHaveLength(first + columns.length + addedColumns.length);
    });

    it("stores hostile values as far as possible and counts the changed ones", async () => {
      const { rows, warnings } = await publish(
        hostileValues.map(([value], index) => anEnrichedRow({ number: index + 1, cells: [value] })),
      );
      expect(rows.map((row) => row["ip"])).toEqual(hostileValues.map(([, expected]) => expected));
      expect(warnings).toHaveLength(3);
    });

    it("stores null for an invalid time, and leaves the warning to the run", async () => {
      const { rows, warnings } = await publish([
        anEnrichedRow({}, { query: { firstSeen: "yesterday" } }),
      ]);
      expect(rows[0]).toMatchObject({ rep_first_seen: null });
      expect(warnings).toEqual([]);
    });
  });

  async function publish(
    written: Parameters<typeof publishRows>[2],
    members: Partial<PublisherOptions> = {},
  ): Promise<{ rows: readonly ReadRow[]; warnings: readonly string[] }> {
    const folder = await temporaryFolder();
    const warnings: string[] = [];
    const onWarning = (text: string) => void warnings.push(text);
    await publishRows(output(folder), folder, written, { ...members, onWarning });
    return { rows: await read(folder), warnings };
  }
}

const quickCheck = {
  item: "192.0.2.1",
  serviceMailBlocklist: "ACTIVE",
  type: "IP",
  bogon: false,
  intent: "malicious",
  activity: true,
};

const hostileNames: readonly string[] = [
  'with "quotes"',
  "same",
  "same",
  "select",
  "xmin",
  "",
  "Case",
  "case",
  "n".repeat(70),
  `${"n".repeat(70)}m`,
  "ä".repeat(40),
  " padded ",
  "back\\slash; drop table x; --",
  "new\nline",
  "column_6",
  "rowid",
];

const hostileValues: readonly (readonly [value: string, stored: string])[] = [
  ["a\0b", "a\uFFFDb"],
  ["\uD800", "\uFFFD"],
  ["x\uDC00y", "x\uFFFDy"],
  ["pair \u{1F600}", "pair \u{1F600}"],
  ["", ""],
  ["NULL", "NULL"],
  ["\\N", "\\N"],
  ["tab\tline\nreturn\r", "tab\tline\nreturn\r"],
  ["'; drop table enriched; --", "'; drop table enriched; --"],
];

const micros = (text: string): bigint => BigInt(Date.parse(text)) * 1000n;

/** The value of an added column, of the type that a reader finds. */
function storedValue({ type, value }: Column, row: EnrichedRow): unknown {
  const given = value(row);
  if (given === null) return null;
  if (type === "timestamp") return micros(String(given));
  return type === "count" ? BigInt(Number(given)) : given;
}
