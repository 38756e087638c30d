import { describe, expect, it } from "vitest";
import { anEnrichedRow } from "../../../helpers/enriched-rows.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import type { ReputeError } from "../../../../src/core/errors.js";
import { checkOutput, publishRows, refusalOf, someRows } from "../publication/publishing.js";
import type { TablePlace } from "./table-modes.js";

/** What is at the place of a table when a run begins. */
export function describeExistingTables({ name, output, sql }: TablePlace): void {
  const load = (folder: string, runId: string, rows = 1, place = output(folder)) =>
    publishRows(place, folder, someRows(1, rows), { runId });

  const refusal = (folder: string, place = output(folder)) =>
    refusalOf(checkOutput(place, { runId: "night 2" }, folder));
  const alter = (folder: string, change: string) =>
    sql(folder, (table) => `ALTER TABLE ${table} ${change}`);
  const runHint = (folder: string, { hint }: ReputeError) =>
    sql(folder, () => hint!.split("\n").slice(1).join("\n"));

  describe(`a table of earlier runs: ${name}`, () => {
    it("gets those of another run, and its view has each item's newest row", async () => {
      const folder = await temporaryFolder();
      await load(folder, "night 1", 3);
      await load(folder, "night 2", 2);
      const counts = (table: string) =>
        `SELECT rep_run_id AS run, CAST(count(*) AS text) AS n FROM ${table} GROUP BY 1 ORDER BY 1`;
      expect(await sql(folder, counts)).toEqual([
        { run: "night 1", n: "3" },
        { run: "night 2", n: "2" },
      ]);
      const newest = (table: string) =>
        `SELECT rep_run_id AS run, CAST(rep_row AS text) AS row FROM ${table}_newest`;
      expect(await sql(folder, newest)).toEqual([{ run: "night 2", row: "2" }]);
    });

    it("may have additional columns in any order, which keep their defaults", async () => {
      const folder = await temporaryFolder();
      await load(folder, "night 1");
      await alter(folder, "DROP COLUMN ip CASCADE");
      await alter(folder, "ADD COLUMN loader text DEFAULT 'them'");
      await alter(folder, "ADD COLUMN ip text");
      await load(folder, "night 2");
      const own = (table: string) => `SELECT loader, ip FROM ${table} WHERE rep_run_id = 'night 2'`;
      expect(await sql(folder, own)).toEqual([{ loader: "them", ip: "cell 1" }]);
    });

    it("gets the verdict by the statements in its error, and its view, too", async () => {
      const folder = await temporaryFolder();
      await load(folder, "night 1");
      for (const view of ["newest", "changes", "history"]) {
        await sql(folder, (table) => `DROP VIEW ${table}_${view}`);
      }
      await alter(folder, "DROP COLUMN rep_verdict");
      await sql(folder, (table) => `CREATE VIEW ${table}_newest AS SELECT * FROM ${table}`);
      const refused = await refusal(folder);
      expect(refused).toMatchObject({
        code: "table_lacks_columns",
        message: expect.stringMatching(/lacks the column rep_verdict$/),
      });
      await runHint(folder, refused);
      const rows = [anEnrichedRow({}, { query: { intent: "malicious" } })];
      await publishRows(output(folder), folder, rows, { runId: "night 2" });
      const verdicts = (table: string) =>
        `SELECT rep_run_id AS run, rep_verdict AS verdict FROM ${table} ORDER BY 1`;
      expect(await sql(folder, verdicts)).toEqual([
        { run: "night 1", verdict: null },
        { run: "night 2", verdict: "malicious" },
      ]);
      expect(await sql(folder, (table) => `SELECT rep_verdict FROM ${table}_newest`)).toEqual([
        { rep_verdict: "malicious" },
      ]);
    });

    it("keeps the text of columns whose values have a type now", async () => {
      const folder = await temporaryFolder();
      await load(folder, "night 1");
      const types = [{ type: "date", declared: "date" }] as const;
      const rows = [anEnrichedRow({ cells: ["infinity"] })];
      await publishRows(output(folder), folder, rows, { runId: "night 2", types });
      const cells = (table: string) => `SELECT ip FROM ${table} ORDER BY rep_run_id`;
      expect(await sql(folder, cells)).toEqual([{ ip: "cell 1" }, { ip: "infinity" }]);
    });

    it("is refused if a column has the wrong type", async () => {
      const folder = await temporaryFolder();
      await load(folder, "night 1");
      await alter(folder, "DROP COLUMN rep_first_seen CASCADE");
      await alter(folder, "ADD COLUMN rep_first_seen text");
      expect(await refusal(folder)).toMatchObject({
        code: "table_types_differ",
        message: expect.stringMatching(
          /rep_first_seen is (?:text|VARCHAR) but must be timestamp with time zone$/i,
        ),
      });
    });

    it("has names that differ in case only in PostgreSQL", async () => {
      const folder = await temporaryFolder();
      await load(folder, "night 1");
      await sql(folder, (table) => `DROP VIEW ${table}_newest`);
      await alter(folder, "DROP COLUMN ip");
      await alter(folder, `ADD COLUMN "IP" text`);
      if (name !== "postgres") return load(folder, "night 2");
      expect(await refusal(folder)).toMatchObject({ code: "table_lacks_columns" });
    });

    it("is refused without its key, with the statement that adds it", async () => {
      const folder = await temporaryFolder();
      await load(folder, "night 1", 2);
      const keyless = (text: string): string => text.replace("enriched", "keyless");
      await sql(folder, (table) => `CREATE TABLE ${keyless(table)} AS SELECT * FROM ${table}`);
      const place = keyless(output(folder));
      const refused = await refusal(folder, place);
      expect(refused).toMatchObject({ code: "table_lacks_key" });
      await runHint(folder, refused);
      await load(folder, "night 2", 1, place);
      const count = (table: string) => `SELECT CAST(count(*) AS text) AS n FROM ${keyless(table)}`;
      expect(await sql(folder, count)).toEqual([{ n: "3" }]);
    });
  });

  describe(`a place without a table: ${name}`, () => {
    it("may not be a view", async () => {
      const folder = await temporaryFolder();
      await sql(folder, (table) => `CREATE VIEW ${table} AS SELECT 1 AS one`);
      expect(await refusal(folder)).toMatchObject({ code: "not_a_table" });
    });

    it("may have other objects with the views' names, which stay", async () => {
      const folder = await temporaryFolder();
      for (const view of ["newest", "history"]) {
        await sql(folder, (table) => `CREATE TABLE ${table}_${view} (mine integer)`);
      }
      await load(folder, "night 1");
      expect(await sql(folder, (table) => `SELECT mine FROM ${table}_newest`)).toEqual([]);
      expect(await sql(folder, (table) => `SELECT mine FROM ${table}_history`)).toEqual([]);
      expect(await sql(folder, (table) => `SELECT rep_change FROM ${table}_changes`)).toEqual([]);
    });

    it("is in a schema, which must exist", async () => {
      const folder = await temporaryFolder();
      await load(folder, "night 1");
      const place = output(folder).replace(/table=[^&]*/, `table=intel_${name}.hits`);
      expect(await refusal(folder, place)).toMatchObject({
        code: "schema_missing",
      });
      await sql(folder, () => `CREATE SCHEMA intel_${name}`);
      await load(folder, "night 1", 2, place);
      const count = `SELECT CAST(count(*) AS text) AS n FROM intel_${name}.hits`;
      expect(await sql(folder, () => count)).toEqual([{ n: "2" }]);
    });
  });
}
