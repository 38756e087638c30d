import { describe, expect, it } from "vitest";
import { columns as addedColumns } from "../../src/core/columns.js";
import { findWarehouse } from "../../src/outputs/registry.js";
import type { OpenedWarehouse, WarehouseOptions } from "../../src/outputs/warehouse/types.js";
import { anEnrichedRow, fullIpResult } from "../helpers/enriched-rows.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { someCells, someOptions, someRows } from "./warehouse-opening.js";
import type { ReadRow } from "./warehouse-readers.js";

/** A kind of warehouse, and how a test reads it without repute. */
export interface WarehousePlace {
  readonly name: string;
  /** Value of `-o` for a new output in this folder. */
  readonly output: (folder: string) => string;
  /** All rows of all runs, ordered by `rep_row`. */
  readonly read: (folder: string) => Promise<readonly ReadRow[]>;
  /** Longest name of an input column in bytes; longer ones are rejected. @default no limit */
  readonly maxNameLength?: number;
}

/** The contract of every warehouse output. */
export function describeWarehouse({
  name,
  output,
  read,
  maxNameLength = Number.POSITIVE_INFINITY,
}: WarehousePlace): void {
  describe(`every warehouse keeps the contract: ${name}`, () => {
    it("stores every column with its type", async () => {
      const { folder, opened } = await open({ columns: ["ip", "note"] });
      await opened.sink.write([
        anEnrichedRow({ cells: ["192.0.2.1", ""] }, { query: fullIpResult, quickCheck }),
      ]);
      await opened.sink.finish();
      expect((await read(folder))[0]).toEqual(fullRow);
    });

    it("stores null for unknown values", async () => {
      const { folder, opened } = await open({});
      await opened.sink.write([anEnrichedRow({}, { lookedUpAt: null }, null)]);
      await opened.sink.finish();
      const [row] = await read(folder);
      expect(row).toMatchObject({ rep_item: null, rep_tags: null, rep_looked_up_at: null });
    });

    it("distinguishes an empty list from null", async () => {
      const { folder, opened } = await open({});
      await opened.sink.write([
        anEnrichedRow({ number: 1 }, { query: { tags: [] } }),
        anEnrichedRow({ number: 2 }, { query: { tags: null } }),
      ]);
      await opened.sink.finish();
      expect((await read(folder)).map((row) => row["rep_tags"])).toEqual([[], null]);
    });

    it("preserves the order of the rows", async () => {
      const { folder, opened } = await open({});
      for (let first = 1; first <= 5_000; first += 500) {
        await opened.sink.write(someRows(first, first + 499));
      }
      const result = await opened.sink.finish();
      expect(result.rows).toBe(5_000);
      expect((await read(folder)).map((row) => row["ip"])).toEqual(someCells(1, 5_000));
    });

    it("is readable without rows", async () => {
      const { folder, opened } = await open({});
      await opened.sink.checkpoint(() => "note");
      const result = await opened.sink.finish();
      expect(result.rows).toBe(0);
      expect(await read(folder)).toEqual([]);
    });

    it("counts its rows by reading them back", async () => {
      const { opened } = await open({});
      await opened.sink.write([
        anEnrichedRow({ number: 1 }, { query: { intent: "malicious" } }),
        anEnrichedRow({ number: 2 }, { query: { intent: "none" } }),
        anEnrichedRow({ number: 3 }, { query: {}, quickCheck: { intent: "malicious" } }),
        anEnrichedRow({ number: 4 }, { status: "failed", query: null }),
      ]);
      await opened.sink.checkpoint(() => "note");
      expect(await opened.audit()).toMatchObject({
        rows: 4,
        statuses: { complete: 3, failed: 1, partial: 0 },
        verdicts: { malicious: 2, suspicious: 0, listed: 0, none: 1 },
      });
      await opened.sink.finish();
    });

    it("continues after its checkpoint without losing or doubling a row", async () => {
      const first = await open({});
      await first.opened.sink.write(someRows(1, 7));
      const position = await first.opened.sink.checkpoint(() => "note");
      await first.opened.sink.write(someRows(8, 9));
      await first.opened.sink.abandon();
      const second = await open({ resume: position }, first.folder);
      await second.opened.sink.write(someRows(8, 20));
      const result = await second.opened.sink.finish();
      expect(result.rows).toBe(20);
      expect((await read(first.folder)).map((row) => row["ip"])).toEqual(someCells(1, 20));
    });

    it("continues from the state of an audited run", async () => {
      const first = await open({});
      await first.opened.sink.write(someRows(1, 7));
      await first.opened.audit().catch(() => undefined);
      const position = await first.opened.sink.checkpoint(() => "note");
      await first.opened.sink.abandon();
      const second = await open({ resume: position }, first.folder);
      await second.opened.sink.finish();
      expect(await read(first.folder)).toHaveLength(7);
    });

    it("refuses to continue if its rows are gone", async () => {
      const first = await open({});
      await first.opened.sink.abandon();
      await expect(
        open({ resume: { length: 10_000, rows: 10_000 } }, first.folder),
      ).rejects.toMatchObject({
        code: expect.stringMatching(/^output_(?:part_gone|table_differs)$/),
      });
    });

    it("stores columns under unique names", async () => {
      const columns = hostileNames.filter((column) => Buffer.byteLength(column) <= maxNameLength);
      const { folder, opened } = await open({ columns });
      await opened.sink.write([anEnrichedRow({ cells: columns.map((_, n) => `cell ${n}`) })]);
      await opened.sink.finish();
      const [row] = await read(folder);
      const stored = Object.values(row ?? {}).slice(2, 2 + columns.length);
      expect(stored).toEqual(columns.map((_, n) => `cell ${n}`));
      expect(Object.keys(row ?? {})).toHaveLength(2 + columns.length + addedColumns.length);
    });

    it("rejects an input column that would be added", async () => {
      await expect(open({ columns: ["ip", "Rep_Item"] })).rejects.toMatchObject({
        code: "column_clash",
      });
    });

    it("stores hostile values as far as possible and counts the changed ones", async () => {
      const warnings: string[] = [];
      const { folder, opened } = await open({ onWarning: (text) => warnings.push(text) });
      await opened.sink.write(
        hostileValues.map(([value], index) => anEnrichedRow({ number: index + 1, cells: [value] })),
      );
      await opened.sink.finish();
      const stored = (await read(folder)).map((row) => row["ip"]);
      expect(stored).toEqual(hostileValues.map(([, expected]) => expected));
      expect(warnings).toHaveLength(3);
    });

    it("stores null for an invalid time, and leaves the warning to the run", async () => {
      const warnings: string[] = [];
      const { folder, opened } = await open({ onWarning: (text) => warnings.push(text) });
      await opened.sink.write([anEnrichedRow({}, { query: { firstSeen: "yesterday" } })]);
      await opened.sink.finish();
      expect((await read(folder))[0]).toMatchObject({ rep_first_seen: null });
      expect(warnings).toEqual([]);
    });

    it("stores cells of one megabyte", async () => {
      const large = "ä".repeat(512 * 1024);
      const { folder, opened } = await open({});
      for (let number = 1; number <= 18; number++) {
        await opened.sink.write([anEnrichedRow({ number, cells: [large + number] })]);
      }
      await opened.sink.finish();
      const stored = (await read(folder)).map((row) => row["ip"]);
      expect(stored).toEqual(Array.from({ length: 18 }, (_, index) => large + (index + 1)));
    });
  });

  async function open(
    options: Partial<WarehouseOptions>,
    existing?: string,
  ): Promise<{ folder: string; opened: OpenedWarehouse }> {
    const folder = existing ?? (await temporaryFolder());
    const warehouse = findWarehouse(output(folder))!;
    const opened = await warehouse.open(await someOptions(folder, options));
    return { folder, opened };
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

const fullRow: ReadRow = {
  ...Object.fromEntries(addedColumns.map(({ name }) => [`rep_${name}`, null])),
  rep_run_id: "00000000-0000-4000-8000-000000000001",
  rep_row: 1n,
  ip: "192.0.2.1",
  note: "",
  rep_item: "192.0.2.1",
  rep_kind: "ip",
  rep_status: "complete",
  rep_verdict: "malicious",
  rep_missing: [],
  rep_type: "IP",
  rep_mail_blocklist: "ACTIVE",
  rep_bogon: false,
  rep_intent: "malicious",
  rep_tags: ["credentials:brute-force", "scanner:web"],
  rep_first_seen: micros("2025-01-01T00:00:00Z"),
  rep_last_seen: micros("2026-01-01T00:00:00Z"),
  rep_reverse_dns: ["a.example.com", "b.example.com"],
  rep_abuse_email: "abuse@example.net",
  rep_abuse_status: "WORKING",
  rep_abuse_verified_at: micros("2025-12-01T00:00:00Z"),
  rep_asn: "AS64496",
  rep_as_name: "Example Networks",
  rep_as_country: "DE",
  rep_honeypot_first_seen: micros("2025-02-01T00:00:00Z"),
  rep_honeypot_last_seen: micros("2025-03-01T00:00:00Z"),
  rep_honeypot_observations: 1n,
  rep_spamtrap_first_seen: null,
  rep_spamtrap_last_seen: null,
  rep_spamtrap_observations: 0n,
  rep_quick_mail_blocklist: "ACTIVE",
  rep_quick_intent: "malicious",
  rep_quick_bogon: false,
  rep_quick_activity: true,
  rep_source: "live",
  rep_http_status: 200n,
  rep_attempts: 1n,
  rep_looked_up_at: micros("2026-01-02T03:04:05.000Z"),
  rep_error_code: null,
  rep_error: null,
  rep_extra: null,
};
