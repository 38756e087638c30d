import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { queryDuckdb } from "../contract/warehouse-readers.js";
import { runRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const table = "duckdb:night.duckdb?table=enriched";
const lacking = (more: string) =>
  `duckdb:night.duckdb?query=SELECT s.* FROM 'dump.csv' s WHERE NOT EXISTS (SELECT 1 FROM enriched e WHERE e.ip = s.ip AND e.rep_status = 'complete'${more})`;

test.each([
  ["what the table lacks", "", 2n],
  ["what it knows only from long ago", " AND e.rep_looked_up_at > now() + INTERVAL 1 DAY", 5n],
])("a query reads %s", async (_, more, added) => {
  const cwd = await temporaryFolder();
  const night = async (rows: string, input: string) => {
    await writeFile(join(cwd, "dump.csv"), `ip\n${rows}`);
    const args = ["enrich", input, "-o", table, "--local", "--quiet"];
    expect(await runRepute(args, { cwd })).toMatchObject({ code: 0 });
    return queryDuckdb("SELECT count(*) n FROM enriched", join(cwd, "night.duckdb"));
  };
  const first = "8.8.8.8\n8.8.4.4\n1.1.1.1\n";
  expect(await night(first, "dump.csv")).toEqual([{ n: 3n }]);
  expect(await night(`${first}9.9.9.9\n1.0.0.1\n`, lacking(more))).toEqual([{ n: 3n + added }]);
});
