import { afterAll, expect, test } from "vitest";
import { schemaText } from "../../../../src/jobs/schema/schema-text.js";
import { PostgresCluster } from "../../../helpers/postgres-cluster.js";
import { workspace } from "../../../helpers/workspace.js";

const cluster = await PostgresCluster.start();
afterAll(() => cluster.stop());

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

test("diff and report read tables like files, and the view of changes agrees", async () => {
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
