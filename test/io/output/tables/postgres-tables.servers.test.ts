import { afterAll, expect, it } from "vitest";
import { schemaText } from "../../../../src/jobs/schema/schema-text.js";
import { PostgresCluster } from "../../../helpers/postgres-cluster.js";
import {
  checkDocumentedQueries,
  documentedQueries,
  writeTwoNights,
} from "../../../helpers/documented-queries.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { workspace } from "../../../helpers/workspace.js";
import { describeTableRecipes } from "./table-recipes.js";

const cluster = await PostgresCluster.start();
afterAll(() => cluster.stop());

it("runs the documented queries on PostgreSQL", async () => {
  const output = cluster.url({ parameters: { table: "enriched" } });
  await writeTwoNights(output, await temporaryFolder(), Date.now());
  const ask = async (query: string) => (await cluster.query(query)).map(Object.values);
  await expect(checkDocumentedQueries(ask)).resolves.toBeUndefined();
});

it("finds the rows of tonight by the key", async () => {
  const run = "'01990000-0000-7000-8000-' || lpad((n / 5000)::text, 12, '0')";
  await cluster.query(
    `${schemaText("postgres", { columns: [], prefix: "rep_", table: "large" })}
     INSERT INTO large (rep_run_id, rep_row, rep_kind, rep_item, rep_status, rep_verdict)
     SELECT ${run}, n % 5000 + 1, 'ip', '192.0.2.' || n % 256, 'complete', 'none'
     FROM generate_series(0, 49999) AS n;
     ANALYZE large`,
  );
  const query = (await documentedQueries()).get("Rows of tonight")!.replaceAll("enriched", "large");
  const plan = (await cluster.query(`EXPLAIN ${query}`)).flatMap(Object.values).join("\n");
  expect(plan).toMatch(/Index (?:Only )?Scan/);
  expect(plan).toMatch(/Index Cond: \(rep_run_id = /);
  expect(plan).not.toContain("Seq Scan");
  expect(await cluster.query(query)).toHaveLength(5_000);
});

const nights = ["1", "2"] as const;

/** Two nights with different answers, in a table and as CSV. */
async function twoNights() {
  const rows = Array.from({ length: 60 }, (_, n) => `203.0.113.${n},host-${n}.example.com`);
  const { run } = await workspace({ "in.csv": `ioc,note\n${rows.join("\n")}\n` });
  const schema = schemaText("postgres", {
    columns: ["ioc", "note"],
    prefix: "rep_",
    table: "nightly",
  });
  await cluster.query(schema);
  const table = cluster.url({ parameters: { table: "nightly" } });
  for (const seed of nights) {
    for (const output of [table, `night-${seed}.csv`]) {
      const flags = ["--local", "--synthetic", seed, "--partial-retries", "0", "-q"];
      expect(await run("enrich", "in.csv", "-o", output, ...flags)).toMatchObject({ code: 0 });
    }
  }
  const runs = await cluster.query(
    "SELECT rep_run_id FROM nightly GROUP BY 1 ORDER BY min(rep_looked_up_at)",
  );
  return { run, table, earlier: `${table}&run=${String(runs[0]?.["rep_run_id"])}` };
}

it("diff and report read tables like files, and the view of changes agrees", async () => {
  const { run, table, earlier } = await twoNights();
  const compared = async (before: string, after: string) =>
    (await run("diff", before, after, "--json")).stdout;
  const files = await compared("night-1.csv", "night-2.csv");
  const changes = files.trim().split("\n");
  expect(changes.length).toBeGreaterThan(10);
  expect(await compared(earlier, table)).toBe(files);
  expect(await compared(earlier, "night-2.csv")).toBe(files);

  const counts = await cluster.query(
    "SELECT rep_change, count(*)::int AS n FROM nightly_changes GROUP BY 1",
  );
  const expected: Record<string, number> = {};
  for (const line of changes) {
    const { change } = JSON.parse(line) as { change: string };
    expected[change] = (expected[change] ?? 0) + 1;
  }
  expect(Object.fromEntries(counts.map((row) => [row["rep_change"], row["n"]]))).toEqual(expected);

  const reported = async (output: string, against: string): Promise<string> => {
    const { code, stdout } = await run("report", output, "--against", against);
    expect(code).toBe(0);
    return stdout.split("The run\n")[0]!.replace(/\s+since\s+\S+/, "");
  };
  const ofTable = await reported(table, earlier);
  expect(ofTable).toContain("What changed");
  expect(ofTable).toBe(await reported("night-2.csv", "night-1.csv"));
  expect(ofTable).not.toContain(cluster.password);
});

describeTableRecipes({
  name: "PostgreSQL",
  output: () => cluster.url({ parameters: { table: "enriched" } }),
  query: (sql) => `${cluster.url()}?query=${sql}`,
  dump: "dump",
  async night(items, isFirst) {
    const tables = isFirst ? "dump, enriched, enriched_runs" : "dump";
    await cluster.query(`DROP TABLE IF EXISTS ${tables} CASCADE`);
    await cluster.query("CREATE TABLE dump (item) AS SELECT unnest($1::text[])", [items]);
  },
  sql: (_, text) => cluster.query(text),
});
