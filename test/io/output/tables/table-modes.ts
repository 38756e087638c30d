import { describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/core/clock.js";
import type { Manifest } from "../../../../src/core/manifest.js";
import type { EnrichedRow } from "../../../../src/core/row.js";
import type { PublisherOptions } from "../../../../src/io/output/publisher.js";
import { join } from "node:path";
import { anEnrichedRow, type FindingParts } from "../../../helpers/enriched-rows.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { queryDuckdb } from "./warehouse-readers.js";
import { openPlace, openRun, stageOf } from "../publication/publishing.js";

/** A database with the table `enriched`, and how a test asks it without repute. */
export interface TablePlace {
  readonly name: string;
  readonly output: (folder: string) => string;
  /** Runs a statement. Its values are texts. */
  readonly sql: (folder: string, text: (table: string) => string) => Promise<readonly Texts[]>;
}

/** A DuckDB file in the folder. */
export const duckdbPlace: TablePlace = {
  name: "duckdb",
  output: (folder) => `duckdb:${join(folder, "out.duckdb")}?table=enriched`,
  sql: async (folder, text) =>
    (await queryDuckdb(text("enriched"), join(folder, "out.duckdb"))) as Texts[],
};

type Texts = Readonly<Record<string, string | null>>;

/** The modes of a table, and its table of runs. */
export function describeTableModes({ name, output, sql }: TablePlace): void {
  /** Publishes the rows of a night, and what repeating it would publish. */
  async function publish(folder: string, night: Night) {
    const { runId, rows, ...members } = night;
    const options = { ...members, runId, clock: at(night.hour ?? 0) };
    const { sink } = await openRun(output(folder), folder, options);
    await sink.write(rows);
    const staged = await sink.checkpoint();
    const manifest = aManifest(runId, rows.length);
    const audit = await sink.publish("", manifest);
    await sink.abandon();
    return {
      audit,
      async again() {
        const publisher = await openPlace(output(folder), folder, options);
        const as = { suffix: "", at: options.clock.now(), manifest: () => manifest };
        await publisher.publish(stageOf(publisher, staged), as);
      },
    };
  }
  const stored = (folder: string) =>
    sql(
      folder,
      (table) =>
        `SELECT rep_item AS item, rep_run_id AS run, CAST(rep_row AS text) AS number, rep_intent AS intent FROM ${table} ORDER BY 1, 2, 3`,
    );
  const items = async (folder: string): Promise<readonly string[]> =>
    (await stored(folder)).map(({ item, run, number }) => `${item} ${run} ${number}`);

  describe(`--mode merge: ${name}`, () => {
    const failed = (number: number, day: number) =>
      anEnrichedRow(
        { number },
        { status: "failed", query: null, lookedUpAt: `2026-01-0${day}T02:00:00Z` },
      );
    const none = anEnrichedRow({ number: 2 }, { status: "unsupported", query: null }, null);
    const long = answer(2, `http://example.com/${"0123456789abcdef".repeat(200)}`, 1);
    const cell = (number: number, text: string, day: number) =>
      answer(number, "192.0.2.1", day, "none", [text]);

    it.each<[what: string, nights: Nights, stored: readonly string[], key?: readonly string[]]>([
      [
        "an item, that of the newest answer, which may be of an earlier night",
        {
          1: [answer(1, "192.0.2.1", 1), answer(2, "192.0.2.2", 1)],
          2: [answer(1, "192.0.2.2", 2), answer(2, "192.0.2.3", 2)],
          // Cached: the answer is older than the one that is there.
          3: [answer(1, "192.0.2.3", 1), answer(2, "192.0.2.1", 1)],
        },
        ["192.0.2.1 3 2", "192.0.2.2 2 1", "192.0.2.3 2 2"],
      ],
      [
        "an item of several rows in a run",
        { 1: [2, 3, 1, 3].map((day, index) => answer(index + 1, "192.0.2.1", day)) },
        ["192.0.2.1 1 4"],
      ],
      ["an item that fails again", { 1: [failed(1, 1)], 2: [failed(1, 2)] }, ["192.0.2.1 2 1"]],
      [
        "an item with an answer before it fails",
        { 1: [failed(1, 1)], 3: [answer(1, "192.0.2.1", 1), failed(2, 3)], 4: [failed(1, 4)] },
        ["192.0.2.1 3 1"],
      ],
      ["a failed item", { 4: [failed(1, 4)], 5: [answer(1, "192.0.2.1", 5)] }, ["192.0.2.1 5 1"]],
      ["an item, not a row without", { 1: [answer(1, "192.0.2.1", 1), none] }, ["192.0.2.1 1 1"]],
      [
        "an item that an index can hold",
        { 1: [answer(1, "192.0.2.1", 1), long] },
        ["192.0.2.1 1 1", ...(name === "postgres" ? [] : [`${long.item?.value} 1 2`])],
      ],
      [
        "value of other columns",
        { 1: [cell(1, "a", 1), cell(2, "b", 1)], 2: [cell(1, "b", 2)] },
        ["192.0.2.1 1 1", "192.0.2.1 2 1"],
        ["ip", "rep_kind"],
      ],
    ])("keeps one row per %s", async (_, nights, kept, key) => {
      const folder = await temporaryFolder();
      for (const [runId, rows] of Object.entries(nights)) {
        const { audit } = await publish(folder, { mode: "merge", key, runId, rows });
        const isKept = (row: EnrichedRow) => row !== none && (row !== long || name !== "postgres");
        const without_key = rows.length - rows.filter(isKept).length;
        expect(audit).toMatchObject({ rows: rows.length, without_key });
      }
      const found = await items(folder);
      expect(found.toSorted()).toEqual([...kept].toSorted());
    });

    it("refuses a table with another key, and a key that the rows lack", async () => {
      const folder = await temporaryFolder();
      await publish(folder, { runId: "1", rows: [answer(1, "192.0.2.1", 1)] });
      const merged = publish(folder, { mode: "merge", runId: "2", rows: [] });
      await expect(merged).rejects.toMatchObject({ code: "table_lacks_key" });
      const listed = publish(folder, { mode: "merge", key: ["rep_tags"], runId: "2", rows: [] });
      await expect(listed).rejects.toMatchObject({ code: "key_unusable" });
      const misnamed = publish(folder, { mode: "merge", key: ["rep_itme"], runId: "2", rows: [] });
      await expect(misnamed).rejects.toMatchObject({
        code: "key_missing",
        message: expect.stringContaining("did you mean rep_item?"),
      });
    });
  });

  describe(`--mode replace: ${name}`, () => {
    it("puts a whole run in the place of all rows, and keeps what depends on the table", async () => {
      const folder = await temporaryFolder();
      await publish(folder, {
        runId: "1",
        rows: [answer(1, "192.0.2.1", 1), answer(2, "192.0.2.2", 1)],
      });
      await sql(folder, (table) => `CREATE VIEW ${table}_mine AS SELECT rep_item FROM ${table}`);
      await publish(folder, { mode: "replace", runId: "2", rows: [answer(1, "192.0.2.3", 1)] });
      expect(await items(folder)).toEqual(["192.0.2.3 2 1"]);
      expect(await sql(folder, (table) => `SELECT * FROM ${table}_mine`)).toEqual([
        { rep_item: "192.0.2.3" },
      ]);
    });

    it("leaves the rows of others as long as a run is incomplete", async () => {
      const folder = await temporaryFolder();
      await publish(folder, { runId: "1", rows: [answer(1, "192.0.2.1", 1)] });
      const options = { mode: "replace", runId: "2" } as const;
      const { publisher, sink } = await openRun(output(folder), folder, options);
      await sink.abandon();
      expect(publisher.describe().takesParts).toBe(false);
      expect(await items(folder)).toEqual(["192.0.2.1 1 1"]);
    });
  });

  describe(`every mode: ${name}`, () => {
    it.each(["append", "merge", "replace"] as const)(
      "%s changes nothing when repeated",
      async (mode) => {
        const folder = await temporaryFolder();
        await publish(folder, { mode, runId: "1", rows: [answer(1, "192.0.2.1", 1)] });
        const night = await publish(folder, {
          mode,
          runId: "2",
          rows: [answer(1, "192.0.2.1", 2), answer(2, "192.0.2.2", 2)],
        });
        const before = await stored(folder);
        await night.again();
        await night.again();
        expect(await stored(folder)).toEqual(before);
      },
    );

    it.each(["append", "merge"] as const)(
      "%s adds the rest of a run that stopped early",
      async (mode) => {
        const folder = await temporaryFolder();
        const members = { mode, runId: "1", clock: at(1) };
        const first = await openRun(output(folder), folder, members);
        await first.sink.write([answer(1, "192.0.2.1", 1)]);
        const position = await first.sink.checkpoint();
        await first.sink.publish("", { ...aManifest("1", 1), exit_reason: "budget" });
        await first.sink.abandon();
        const runs = (table: string) =>
          `SELECT run_id, CAST("rows" AS text) AS n, exit_reason FROM ${table}_runs`;
        expect(await sql(folder, runs)).toEqual([{ run_id: "1", n: "1", exit_reason: "budget" }]);
        const rest = await openRun(output(folder), folder, { ...members, clock: at(2) }, position);
        await rest.sink.write([answer(2, "192.0.2.2", 1)]);
        await rest.sink.publish("", aManifest("1", 2));
        expect(await items(folder)).toEqual(["192.0.2.1 1 1", "192.0.2.2 1 2"]);
        // Rows that were published keep their time, so that an incremental model reads them once.
        const hours = (table: string) =>
          `SELECT CAST(extract(hour FROM rep_loaded_at) AS text) AS hour FROM ${table} ORDER BY rep_row`;
        expect(await sql(folder, hours)).toEqual([{ hour: "1" }, { hour: "2" }]);
        expect(await sql(folder, runs)).toEqual([{ run_id: "1", n: "2", exit_reason: "done" }]);
      },
    );

    it("records each run", async () => {
      const folder = await temporaryFolder();
      await publish(folder, { runId: "1", rows: [answer(1, "192.0.2.1", 1)] });
      await publish(folder, {
        runId: "2",
        hour: 3,
        rows: [answer(1, "192.0.2.1", 1), answer(2, "192.0.2.2", 1)],
      });
      const found = await sql(
        folder,
        (table) =>
          `SELECT run_id, CAST(complete AS text) AS complete, CAST(malicious AS text) AS malicious, input,
             CAST(extract(hour FROM loaded_at) AS text) AS hour, CAST(ended_at > started_at AS text) AS later,
             manifest->>'odd' AS odd
           FROM ${table}_runs ORDER BY 1`,
      );
      const night = {
        input: "dump.csv",
        later: "true",
        malicious: "0",
        odd: "\uFFFD \\u0000 \uFFFD",
      };
      expect(found).toEqual([
        { ...night, run_id: "1", complete: "1", hour: "0" },
        { ...night, run_id: "2", complete: "2", hour: "3" },
      ]);
    });

    it.each(["enriched", "enriched_runs"])(
      "refuses before the first request a table %s with a column that rows have to fill",
      async (named) => {
        const folder = await temporaryFolder();
        await publish(folder, { runId: "1", rows: [answer(1, "192.0.2.1", 1)] });
        const alter = (change: string) => async (): Promise<unknown> =>
          sql(folder, (table) => `ALTER TABLE ${table.replace("enriched", named)} ${change}`);
        await alter("ADD COLUMN owner text DEFAULT 'us'")();
        await alter("ADD COLUMN team text")();
        await sql(folder, (table) => `UPDATE ${table.replace("enriched", named)} SET team = 'us'`);
        await alter("ALTER COLUMN owner SET NOT NULL")();
        await openRun(output(folder), folder, { runId: "2" });
        await alter("ALTER COLUMN team SET NOT NULL")();
        await expect(openRun(output(folder), folder, { runId: "2" })).rejects.toMatchObject({
          code: "table_needs_column",
          message: expect.stringMatching(/needs a value for the column team, which the rows lack$/),
          hint: expect.stringMatching(/\nALTER TABLE .* ALTER COLUMN "team" DROP NOT NULL;$/),
        });
        await alter("ALTER COLUMN team DROP NOT NULL")();
        await publish(folder, { runId: "2", rows: [answer(1, "192.0.2.2", 1)] });
      },
    );
  });
}

/** Rows by the id of their run. */
type Nights = Readonly<Record<string, readonly EnrichedRow[]>>;

interface Night extends Partial<PublisherOptions> {
  readonly runId: string;
  readonly rows: readonly EnrichedRow[];
  /** When it is published. */
  readonly hour?: number;
}

function at(hour: number) {
  return { ...systemClock, now: () => Date.UTC(2026, 0, 5, hour) };
}

/** A row with an answer of a day. */
function answer(
  number: number,
  item: string,
  day: number,
  intent = "none",
  cells: readonly string[] = [item],
): EnrichedRow {
  const finding: FindingParts = {
    query: { intent, serviceMailBlocklist: "NONE" },
    lookedUpAt: `2026-01-0${day}T02:00:00Z`,
  };
  const kind = item.includes("/") ? "url" : "ip";
  return anEnrichedRow({ number, cells }, finding, { kind, value: item });
}

function aManifest(runId: string, rows: number): Manifest {
  const manifest = {
    run_id: runId,
    input: { path: "dump.csv", rows },
    statuses: { complete: rows, partial: 0, invalid: 0, unsupported: 0, failed: 0 },
    verdicts: { malicious: 0, suspicious: 0, listed: 0, none: rows, unknown: 0 },
    started_at: "2026-01-05T02:00:00.000Z",
    ended_at: "2026-01-05T02:10:00.000Z",
    exit_reason: "done",
    odd: "\0 \\u0000 \uD800",
  };
  return manifest as unknown as Manifest;
}
