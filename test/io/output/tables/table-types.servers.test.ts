import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import {
  differences,
  storedTypes,
  typedNames,
  typedSamples,
  typesOf,
  useTypedInputs,
} from "../publication/typed-rows.js";
import { queryDuckdb } from "./warehouse-readers.js";
import { startAnsweringServer } from "../../../helpers/answering-server.js";
import { enrichKilled } from "../../../helpers/enrich-killed.js";
import { PostgresCluster } from "../../../helpers/postgres-cluster.js";
import { runRepute } from "../../../helpers/run-repute.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const typedInputs = useTypedInputs();
const cluster = await PostgresCluster.start();
afterAll(() => cluster.stop());

const table = (name: string): string => cluster.url({ parameters: { table: name } });

async function enrich(cwd: string, ...args: readonly string[]): Promise<string> {
  const local = ["--item-column", "item", "--local", "--lookups", "query"];
  const run = await runRepute(["enrich", ...args, ...local], {
    cwd,
    env: { PGPASSWORD: cluster.password },
  });
  expect(run.code, run.stderr).toBe(0);
  return run.stderr;
}

async function postgresTypes(name: string): Promise<Record<string, unknown>> {
  const rows = await cluster.query<{ attname: string; type: string }>(
    `SELECT attname, format_type(atttypid, atttypmod) AS type FROM pg_attribute
     WHERE attrelid = '${name}'::regclass AND attnum > 0`,
  );
  return Object.fromEntries(rows.map(({ attname, type }) => [attname, type]));
}

const expected = Object.fromEntries(
  Object.entries(typedSamples).map(([name, { postgres }]) => [name, postgres]),
);

describe("types of input columns and PostgreSQL", () => {
  it.each(["in.parquet", "duckdb:in.duckdb?table=original"])(
    "go there from %s, and back",
    async (input) => {
      const cwd = await typedInputs();
      const name = input === "in.parquet" ? "of_parquet" : "of_duckdb";
      const stderr = await enrich(cwd, input, "-o", table(name));
      expect(stderr).toMatch(/column nanos is stored as text: it is TIMESTAMP(?:_NS|\(NANOS\))\n/);
      expect(stderr.match(/warning: column .* is stored as text/g)).toHaveLength(1);
      expect(await postgresTypes(name)).toMatchObject(expected);
      const columns = typedNames.map((column) => `"${column}"`).join(", ");
      const back = `${cluster.url()}?query=SELECT item, ${columns} FROM ${name}`;
      await enrich(cwd, back, "-o", "back.parquet");
      await enrich(cwd, back, "-o", "duckdb:back.duckdb?table=t");
      const file = join(cwd, "in.duckdb");
      // PostgreSQL stores JSON without its spaces, and nanoseconds as text.
      const found = (from: string) => `(SELECT * REPLACE (rtrim(nanos, 'Z')::TIMESTAMP_NS AS nanos,
      json(document::VARCHAR) AS document) FROM ${from})`;
      await queryDuckdb(
        `CREATE TABLE plain AS SELECT * REPLACE (json(document::VARCHAR) AS document) FROM original;
       ATTACH '${cwd}/back.duckdb' AS back; CREATE TABLE found AS FROM back.t`,
        file,
      );
      for (const from of [`'${cwd}/back.parquet'`, "found"]) {
        const differing = await differences(found(from), file, "plain");
        expect(differing.filter((text) => !text.startsWith("document "))).toEqual([]);
        expect(await typesOf(from, file)).toEqual({ ...storedTypes, nanos: "VARCHAR" });
      }
      const documents = await cluster.query(
        `SELECT document->>'n' AS n, document->'x'->>0 AS x FROM ${name} WHERE item = 'host-7.example.com'`,
      );
      expect(documents).toEqual([{ n: "7", x: "1.50" }]);
    },
  );

  it("stay in PostgreSQL, over kills, and numbers without precision too", async () => {
    const cwd = await temporaryFolder();
    await cluster.query(`CREATE TYPE colour AS ENUM ('red'); CREATE DOMAIN age AS integer;
      CREATE TABLE own AS SELECT 'h-' || n || '.example.com' AS item, n::smallint AS small, n::oid AS o, n::age AS years,
        (n / 7.0)::numeric AS free, (n / 7.0)::numeric(12,3) AS dec, (n * 1e30)::numeric(50,2) AS huge,
        (n / 3.0)::real AS r, (n / 3.0)::float8 AS f, n % 2 = 0 AS b, date '2024-01-01' + n AS d,
        timestamptz '2024-01-01 00:00:00.123456Z' + n * interval '1 minute' AS tz,
        timestamp '2024-01-01' + n * interval '1 second' AS ts, md5(n::text)::uuid AS u,
        jsonb_build_object('n', n, 'x', 1.50) AS j, json '{"a" : 1}' AS k, 'red'::colour AS c,
        'a'::varchar(5) AS v, 'b'::char(3) AS ch, inet '192.0.2.1' AS ip, ARRAY[n] AS l, interval '1 day' AS i,
        time '01:02:03' AS t, '\\xdead'::bytea AS raw, '{"z": "\\u0000"}'::json AS zero
      FROM generate_series(1, 300) n;
      INSERT INTO own (item, free, dec, d, ts, tz, f) VALUES ('special.example.com', 'NaN', 'NaN', 'infinity', '-infinity', '0044-03-15 BC', '-0')`);
    const server = await startAnsweringServer();
    const args = [table("own"), "-o", table("copied"), "--item-column", "item", "--resume"];
    for (const requests of [90, 90]) {
      const run = await enrichKilled({ server, cwd, args, kill: { requests, ms: 0 } });
      expect(run.signal).toBe("SIGKILL");
    }
    const last = await enrichKilled({ server, cwd, args, kill: null });
    expect(last.code, last.stderr).toBe(0);
    const types = `small bigint, o bigint, years bigint, free numeric, dec numeric(12,3), huge numeric,
      r real, f double precision, b boolean, d date, tz timestamp with time zone,
      ts timestamp without time zone, u uuid, j jsonb, k jsonb, c text, v text, ip text, l text, raw text`;
    const found = Object.entries(await postgresTypes("copied"));
    const declared = found.map(([name, type]) => `${name} ${String(type)}`);
    expect(declared).toEqual(expect.arrayContaining(types.split(/,\s+/)));
    const same = "small o years free dec huge r f b d tz ts u j".split(" ");
    const differing = same.map(
      (column) =>
        `count(*) FILTER (WHERE o.${column} IS DISTINCT FROM c.${column})::int AS ${column}`,
    );
    const [counts] = await cluster.query(
      `SELECT ${differing.join(", ")} FROM own o JOIN copied c USING (item)`,
    );
    const none = Object.fromEntries(same.map((column) => [column, 0]));
    expect(counts).toEqual({ ...none, dec: 1, d: 1, ts: 1, tz: 1 });
    const said = await enrich(cwd, table("own"), "-o", "own.parquet");
    for (const column of ["free", "huge", "ip", "l", "i", "t", "raw"]) {
      expect(said).toContain(`column ${column} is stored as text: it is `);
    }
    expect(said).not.toMatch(/column (?:c|v|ch|item) is stored/);
    expect(said).toMatch(/replaced U\+0000 with U\+FFFD/);
  });

  it("give way to text in a table that has text", async () => {
    const cwd = await temporaryFolder();
    await cluster.query("CREATE TABLE night AS SELECT 'n.example.com' AS item, '5' AS n, '' AS d");
    await enrich(cwd, table("night"), "-o", table("nights"));
    await cluster.query("DROP TABLE night");
    await cluster.query(
      "CREATE TABLE night AS SELECT 'n.example.com' AS item, 6 AS n, date 'infinity' AS d",
    );
    await enrich(cwd, table("night"), "-o", table("nights"));
    expect(await cluster.query("SELECT n, d FROM nights ORDER BY n")).toEqual([
      { n: "5", d: "" },
      { n: "6", d: "infinity" },
    ]);
  });
});
