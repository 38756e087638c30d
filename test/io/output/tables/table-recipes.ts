import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type AnsweringServer, startAnsweringServer } from "../../../helpers/answering-server.js";
import { runRepute, type RunReputeResult } from "../../../helpers/run-repute.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

interface RecipePlace {
  readonly name: string;
  /** Address of the table `enriched`. */
  readonly output: () => string;
  readonly query: (sql: string) => string;
  /** What a query reads the items of `dump.csv` from. */
  readonly dump: string;
  /** Makes `dump` hold these items, and removes the tables of an earlier test on the first night. */
  readonly night?: (items: readonly string[], isFirst: boolean) => Promise<unknown>;
  /** Runs a statement on the database of this folder. */
  readonly sql: (folder: string, text: string) => Promise<readonly object[]>;
}

interface Recipe {
  readonly server: AnsweringServer;
  /** Writes a dump of this many items. */
  readonly dump: (size: number) => Promise<void>;
  readonly run: (...args: readonly string[]) => Promise<RunReputeResult>;
  /** The newest row of each item. */
  readonly newest: string;
  /** Newest rows by status. */
  readonly counts: () => Promise<readonly object[]>;
  /** What is in the rows of the first night that were answered. */
  readonly answered: () => Promise<readonly object[]>;
}

const rows = 200;
const failing = 60;

/** How the rows of a table come to their answers, and new items into it. */
export function describeTableRecipes(place: RecipePlace): void {
  const { query, dump: source } = place;
  const output = (mode: string) => ["-o", place.output(), "--mode", mode];

  describe(`recipes: ${place.name}`, () => {
    it("the next night fills failed rows in, with --mode merge and a cache", async () => {
      const { server, run, counts, answered } = await firstNight(place, "merge");
      const before = [await answered(), server.total];
      const night = ["dump.csv", ...output("merge"), "--cache", "cache"];
      expect(await run("enrich", ...night)).toMatchObject({ code: 0 });
      expect([await answered(), server.total - failing]).toEqual(before);
      expect(await counts()).toEqual([{ rep_status: "complete", n: `${rows}` }]);
    });

    it.each(["merge", "append"])("a query asks again for failed rows, --mode %s", async (mode) => {
      const { server, run, newest, counts, answered } = await firstNight(place, mode);
      const failed = query(`SELECT item FROM ${newest} WHERE rep_status = 'failed'`);
      const before = [await answered(), server.total];
      const retry = [failed, ...output(mode)];
      const refused = await run("enrich", ...retry);
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("--min-rows 0") });
      for (let times = 0; times < 2; times++) {
        expect(await run("enrich", ...retry, "--min-rows", "0")).toMatchObject({ code: 0 });
        expect([await answered(), server.total - failing]).toEqual(before);
        expect(await counts()).toEqual([{ rep_status: "complete", n: `${rows}` }]);
      }
    });

    it.each([
      ["what the table lacks", "", 5 + failing],
      ["what it learnt long ago", " AND e.rep_looked_up_at > now() + INTERVAL '1 day'", rows + 5],
    ])("a query reads %s", async (_, more, read) => {
      const { server, dump, run, counts } = await firstNight(place, "append");
      await dump(rows + 5);
      const lacking = query(
        `SELECT s.item FROM ${source} s WHERE NOT EXISTS (SELECT 1 FROM enriched e WHERE e.item = s.item AND e.rep_status = 'complete'${more})`,
      );
      const asked = server.total;
      const args = [lacking, ...output("append"), "--min-rows", "0"];
      expect(await run("enrich", ...args)).toMatchObject({ code: 0 });
      expect(server.total - asked).toBe(read);
      expect(await counts()).toEqual([{ rep_status: "complete", n: `${rows + 5}` }]);
    });

    it("retry refuses the table, and names the recipes", async () => {
      const { code, stdout, stderr } = await runRepute(["retry", place.output()]);
      expect([code, stdout]).toEqual([2, ""]);
      for (const way of ["--mode merge", "?query=SELECT … WHERE rep_status = 'failed'"]) {
        expect(stderr).toContain(way);
      }
    });
  });
}

/** A night of which some rows failed; the service answers them from now on. */
async function firstNight(place: RecipePlace, mode: string): Promise<Recipe> {
  const server = await startAnsweringServer();
  const cwd = await temporaryFolder();
  const itemAt = (n: number): string => `host-${n}.example.com`;
  const dump = async (size: number, isFirst = false): Promise<void> => {
    const items = Array.from({ length: size }, (_, n) => itemAt(n));
    await writeFile(join(cwd, "dump.csv"), `item\n${items.join("\n")}\n`);
    await place.night?.(items, isFirst);
  };
  const service = ["--intel-url", server.url, "--lookups", "query", "--rate", "1000000/s"];
  const run: Recipe["run"] = (...args) => runRepute([...args, ...service], { cwd });
  await dump(rows, true);
  for (let n = rows - failing; n < rows; n++) server.absent.add(itemAt(n));
  const flags = ["-o", place.output(), "--mode", mode, "--cache", "cache"];
  expect(await run("enrich", "dump.csv", ...flags)).toMatchObject({ code: 3 });
  server.absent.clear();
  const newest = mode === "append" ? "enriched_newest" : "enriched";
  return {
    server,
    dump,
    run,
    newest,
    counts: () =>
      place.sql(
        cwd,
        `SELECT rep_status, CAST(count(*) AS varchar) AS n FROM ${newest} GROUP BY rep_status`,
      ),
    answered: () =>
      place.sql(
        cwd,
        `SELECT rep_item, rep_verdict, rep_looked_up_at FROM ${newest}
         WHERE rep_item IN (${Array.from({ length: rows - failing }, (_, n) => `'${itemAt(n)}'`).join()})
         ORDER BY rep_item`,
      ),
  };
}
