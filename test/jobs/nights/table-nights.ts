import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type AnsweringServer, startAnsweringServer } from "../../helpers/answering-server.js";
import { enrichKilled } from "../../helpers/enrich-killed.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import type { TablePlace } from "../../io/output/tables/table-modes.js";

/** Rows of a night, and how often its run is killed. */
const rows = Number(process.env["NIGHT_ROWS"] ?? 1_200);
const kills = Number(process.env["NIGHT_KILLS"] ?? 2);

interface NightlyPlace extends TablePlace {
  /** What has to be done before the first run. */
  readonly prepare?: (folder: string) => Promise<unknown>;
  /** The other modes are killed at every point elsewhere. */
  readonly modes: readonly ("append" | "merge" | "replace")[];
}

/** Three nights into one table. Each has other items in the place of a tenth, and is killed. */
export function describeTableNights({ name, output, sql, prepare, modes }: NightlyPlace): void {
  describe.each(modes)(`--mode %s: ${name}`, (mode) => {
    it(
      "holds what it should after each of three nights that are killed",
      { timeout: 1_200_000 },
      async () => {
        const server = await startAnsweringServer();
        const folder = await temporaryFolder();
        await prepare?.(folder);
        const args = [
          "in.csv",
          "-o",
          output(folder),
          "--mode",
          mode,
          "--resume",
          "--state-dir",
          ".",
        ];
        for (const night of [1, 2, 3]) {
          const items = itemsOf(night);
          await writeFile(join(folder, "in.csv"), `domain,n\n${items.map(line).join("")}`);
          // What nothing was known about in the night before.
          if (night === 2) for (const item of items.filter(isTurned)) server.malicious.add(item);
          await untilDone(server, folder, args);
          const [found] = await sql(folder, countsOf);
          const all = new Set([1, 2, 3].slice(0, night).flatMap(itemsOf)).size;
          expect(found).toEqual(
            {
              append: {
                rows: `${rows * night}`,
                runs: `${night}`,
                newest: `${rows}`,
                last: `${rows}`,
              },
              merge: { rows: `${all}`, runs: `${night}`, newest: `${rows}`, last: `${rows}` },
              replace: { rows: `${rows}`, runs: "1", newest: `${rows}`, last: `${rows}` },
            }[mode],
          );
          const [recorded] = await sql(folder, recordedOf);
          expect(recorded).toEqual({ runs: `${night}`, rows: `${rows * night}`, done: `${night}` });
        }
        if (mode === "append") await checkHistory((text) => sql(folder, text));
        expect(await sql(folder, typesOf)).toEqual([
          { column_name: "n", data_type: text[name] },
          { column_name: "rep_bogon", data_type: "boolean" },
          { column_name: "rep_loaded_at", data_type: zoned },
          { column_name: "rep_looked_up_at", data_type: zoned },
          { column_name: "rep_row", data_type: "bigint" },
        ]);
      },
    );
  });
}

/** Checks how long which verdict held. */
async function checkHistory(
  sql: (text: (table: string) => string) => ReturnType<TablePlace["sql"]>,
): Promise<void> {
  const periods = await sql(periodsOf);
  const turned = Number(periods[0]?.["items"]);
  expect(turned).toBeGreaterThan(0);
  expect(periods).toEqual([
    { verdict: "malicious", runs: "2", open: "true", items: `${turned}` },
    { verdict: "malicious", runs: "3", open: "true", items: `${rows / 10 - turned}` },
    { verdict: "none", runs: "1", open: "false", items: `${turned}` },
  ]);
  expect(await sql(gapsOf)).toEqual([{ gaps: "0" }]);
}

/** The items of a night. */
function itemsOf(night: number): readonly string[] {
  return Array.from({ length: rows }, (_, n) =>
    n % 10 < night - 1 ? `night-${(n % 10) + 2}-${n}.example.com` : `host-${n}.example.com`,
  );
}

function isTurned(item: string): boolean {
  return /^host-\d*7\./.test(item);
}

function line(item: string, n: number): string {
  return `${item},${n}\n`;
}

/** Runs a night to its end. Kills it at even distances, the last time once all is answered. */
async function untilDone(server: AnsweringServer, cwd: string, args: readonly string[]) {
  const step = Math.floor(rows / kills);
  for (let kill = 1; kill <= kills; kill++) {
    const last = kill === kills;
    const when = last ? { requests: step - 200, ms: 300 } : { requests: step, ms: 0 };
    await enrichKilled({ server, cwd, args, kill: when });
    // The last kill may come after everything is done, just before the process exits.
    if (last && !(await readdir(cwd)).some((name) => name.endsWith(".state"))) return;
  }
  const end = await enrichKilled({ server, cwd, args, kill: null });
  expect(end.code, end.stderr).toBe(0);
}

const countsOf = (table: string): string =>
  `SELECT CAST(count(*) AS text) AS rows, CAST(count(DISTINCT rep_run_id) AS text) AS runs,
     CAST(count(*) FILTER (WHERE rep_run_id = (SELECT max(rep_run_id) FROM ${table})) AS text) AS newest,
     CAST(max(rep_row) AS text) AS last FROM ${table}`;

const recordedOf = (table: string): string =>
  `SELECT CAST(count(*) AS text) AS runs, CAST(sum("rows") AS text) AS rows,
     CAST(count(*) FILTER (WHERE exit_reason = 'done') AS text) AS done FROM ${table}_runs`;

/** How long which verdicts held of items that turned bad in the second night, or were bad before. */
const periodsOf = (table: string): string =>
  `SELECT rep_verdict AS verdict, CAST(runs AS text) AS runs, CAST(valid_to IS NULL AS text) AS open,
     CAST(count(*) AS text) AS items
   FROM ${table}_history WHERE rep_item LIKE 'host-%7.example.com' GROUP BY 1, 2, 3 ORDER BY 1, 2`;

/** Periods that do not begin where the one before them ends. */
const gapsOf = (table: string): string =>
  `SELECT CAST(count(*) AS text) AS gaps FROM (
     SELECT valid_from, lag(valid_to) OVER (PARTITION BY rep_kind, rep_item ORDER BY valid_from) AS earlier_end,
       row_number() OVER (PARTITION BY rep_kind, rep_item ORDER BY valid_from) AS period
     FROM ${table}_history) AS periods WHERE period > 1 AND earlier_end IS DISTINCT FROM valid_from`;

const typesOf = (table: string): string =>
  `SELECT column_name, lower(data_type) AS data_type FROM information_schema.columns
   WHERE table_name = 'enriched' AND column_name IN ('n', 'rep_row', 'rep_loaded_at', 'rep_looked_up_at', 'rep_bogon')
     AND table_schema = '${table.includes(".") ? table.split(".", 1)[0] : "main"}' ORDER BY 1`;

const zoned = "timestamp with time zone";

const text: Readonly<Record<string, string>> = { duckdb: "varchar", postgres: "text" };
