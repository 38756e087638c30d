import { rm } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { startAnsweringServer } from "../../../helpers/answering-server.js";
import { enrichKilled } from "../../../helpers/enrich-killed.js";
import { workspace, type Workspace } from "../../../helpers/workspace.js";
import {
  differences,
  storedTypes,
  typedNames,
  typedSamples,
  typesOf,
  useTypedInputs,
} from "../publication/typed-rows.js";
import { queryDuckdb } from "./warehouse-readers.js";

const typedInputs = useTypedInputs();

const local = ["--item-column", "item", "--local", "--lookups", "query"];

/** The typed inputs, and commands that have to succeed. */
async function prepared() {
  const place = await workspace({}, { folder: await typedInputs() });
  const repute = async (...args: readonly string[]) => {
    const run = await place.run(...args);
    expect(run.code, run.stderr).toBe(0);
    return run;
  };
  const enrich = (...args: readonly string[]) => repute("enrich", ...args, ...local);
  return { ...place, repute, enrich };
}

/** Copies a table into the file of the original, to compare the two. */
async function imported({ at }: Workspace, from: string): Promise<void> {
  await queryDuckdb(
    `ATTACH '${at("out.duckdb")}' AS found; CREATE OR REPLACE TABLE found AS FROM ${from}`,
    at("in.duckdb"),
  );
}

async function expectKept(place: Workspace, from: string): Promise<void> {
  await imported(place, from);
  expect(await typesOf("found", place.at("in.duckdb"))).toEqual(storedTypes);
  expect(await differences("found", place.at("in.duckdb"))).toEqual([]);
}

describe("types of input columns", () => {
  it.each([
    ["duckdb:in.duckdb?table=original", ["-o", "out.parquet"], "'CWD/out.parquet'"],
    ["in.parquet", ["-o", "out.parquet"], "'CWD/out.parquet'"],
  ])("stay, from %s to %j", async (input, args, from) => {
    const place = await prepared();
    const { stderr } = await place.enrich(input, ...args);
    expect(stderr).not.toMatch(/warning/);
    await expectKept(place, from.replace("CWD", place.cwd));
  });

  it("stay in a Parquet file after a retry, byte for byte", async () => {
    const place = await prepared();
    const { cwd } = place;
    const server = await startAnsweringServer();
    for (let n = 0; n < 200; n += 3) server.absent.add(`host-${n}.example.com`);
    const from = `'${cwd}/out.parquet'`;
    const args = ["in.parquet", "-o", "out.parquet", "--item-column", "item"];
    const max = ["--max-failed", "100%"];
    const made = await enrichKilled({ server, cwd, args: [...args, ...max], kill: null });
    expect(made.code, made.stderr).toBe(3);
    const failed = `SELECT count(*) AS n FROM ${from} WHERE rep_status = 'failed'`;
    expect(await queryDuckdb(failed)).toEqual([{ n: 67n }]);
    server.absent.clear();
    const retried = await enrichKilled({
      server,
      cwd,
      command: "retry",
      args: ["out.parquet"],
      kill: null,
    });
    expect(retried.code, retried.stderr).toBe(0);
    expect(await queryDuckdb(failed)).toEqual([{ n: 0n }]);
    await expectKept(place, from);
    const signs = `SELECT 1 / single AS single, 1 / double AS double FROM ${from} WHERE single = 0 OR double = 0`;
    const negative = Number.NEGATIVE_INFINITY;
    expect(await queryDuckdb(signs)).toEqual([
      { single: expect.anything(), double: negative },
      { single: negative, double: expect.anything() },
    ]);
  });

  it("give way to text in a table that has text", async () => {
    const { at, cwd, enrich } = await prepared();
    await queryDuckdb(
      `COPY (SELECT item, big::VARCHAR AS big, day::VARCHAR AS day, zoned::VARCHAR AS zoned,
         double::VARCHAR AS double FROM '${cwd}/in.parquet' LIMIT 3) TO '${cwd}/text.parquet'`,
    );
    const target = "duckdb:out.duckdb?table=t";
    await enrich("text.parquet", "-o", target);
    const query = `SELECT '2.example.com' AS item, 7::BIGINT AS big, 'infinity'::DATE AS day,
      TIMESTAMPTZ '2024-01-02 03:04:05+00' AS zoned, 'NaN'::DOUBLE AS double`;
    const { stderr } = await enrich(`duckdb:in.duckdb?query=${query}`, "-o", target);
    expect(stderr).not.toMatch(/warning/);
    const stored = await queryDuckdb(
      "SELECT big, zoned, double, typeof(day) AS type FROM t WHERE item = '2.example.com'",
      at("out.duckdb"),
    );
    expect(stored).toEqual([
      { big: "7", zoned: "2024-01-02T03:04:05Z", double: "NaN", type: "VARCHAR" },
    ]);
  });

  it("become text with one warning per column where an output has no such type", async () => {
    const { cwd, enrich, manifest } = await prepared();
    const query =
      "SELECT 'a.example.com' AS item, INTERVAL 3 days AS span, [1, 2] AS list, 5::HUGEINT AS huge, 'x'::ENUM('x') AS e FROM range(2)";
    const { stderr } = await enrich(`duckdb:in.duckdb?query=${query}`, "-o", "out.parquet");
    const said = [
      "column span is stored as text: it is INTERVAL",
      "column list is stored as text: it is INTEGER[]",
      "column huge is stored as text: it is HUGEINT",
    ];
    for (const warning of said) expect(stderr.split(`warning: ${warning}\n`)).toHaveLength(2);
    const { warnings } = await manifest("out.parquet");
    expect(warnings).toEqual(Object.fromEntries(said.map((warning) => [warning, 1])));
    const rows = await queryDuckdb(
      `SELECT DISTINCT span, list, huge, e, typeof(huge) AS type FROM '${cwd}/out.parquet'`,
    );
    expect(rows).toEqual([{ span: "3 days", list: "1|2", huge: "5", e: "x", type: "VARCHAR" }]);
    const text = await enrich(`duckdb:in.duckdb?query=${query}`, "-o", "out.csv");
    expect(text.stderr).not.toMatch(/warning/);
  });

  it("count values that the type cannot hold, which become null", async () => {
    const { at, enrich, manifest } = await prepared();
    const query = `SELECT 'a' || n || '.example.com' AS item, CASE WHEN n < 2 THEN 'infinity' ELSE '2024-01-02' END::DATE AS day,
      TIMESTAMP '12024-01-02' AS late, '{"a": "\\u0000"}'::JSON AS doc FROM range(5) t(n)`;
    const input = `duckdb:in.duckdb?query=${query}`;
    const { stderr } = await enrich(input, "-o", "duckdb:out.duckdb?table=t");
    expect(stderr).toMatch(/warning: values of the column day became null/);
    const { warnings } = await manifest("out.duckdb.t");
    const why = "they are infinite, out of range or malformed";
    expect(warnings).toEqual({
      [`values of the column late became null: ${why}`]: 5,
      "replaced U+0000 with U+FFFD in values that contain it": 5,
      [`values of the column day became null: ${why}`]: 2,
    });
    const [stored] = await queryDuckdb(
      "SELECT count(day)::INT AS days, count(late)::INT AS late, any_value(doc->>'a') AS a FROM t",
      at("out.duckdb"),
    );
    expect(stored).toEqual({ days: 3, late: 0, a: "\uFFFD" });
  });
});

it("types of several inputs are kept where they agree, and become text with a warning where they clash", async () => {
  const { at, cwd, manifest, repute, run } = await prepared();
  const write = (name: string, select: string) =>
    queryDuckdb(`COPY (SELECT ${select}) TO '${cwd}/${name}.parquet' (FORMAT parquet)`);
  await write(
    "a",
    "'a.example.com' AS item, 1::INTEGER AS n, 2::BIGINT AS m, DATE '2024-01-02' AS d",
  );
  await write("b", "'b.example.com' AS item, 2::BIGINT AS n, 2.5::DOUBLE AS m, true AS extra");
  const args = ["a.parquet", "b.parquet", "-o", "duckdb:out.duckdb?table=t"];
  const stop = ["--max-requests", "1", "--concurrency", "1", "--resume"];
  const whole = ["enrich", ...args, ...local];
  expect(await run(...whole, ...stop)).toMatchObject({ code: 75 });
  await rm(at("b.parquet"));
  await repute(...whole, "--resume");
  const warning = "column m is stored as text: it is INT_64 in a.parquet and DOUBLE in b.parquet";
  const { warnings } = await manifest("out.duckdb.t");
  expect(warnings).toEqual({ [warning]: 1 });
  const rows = await queryDuckdb(
    "SELECT n, m, d::VARCHAR AS d, extra, typeof(n) || typeof(d) || typeof(extra) AS types FROM t ORDER BY rep_row",
    at("out.duckdb"),
  );
  const types = "BIGINTDATEBOOLEAN";
  expect(rows).toEqual([
    { n: 1n, m: "2", d: "2024-01-02", extra: null, types },
    { n: 2n, m: "2.5", d: null, extra: true, types },
  ]);
});

it.each(["in.parquet", "duckdb:in.duckdb?table=original"])(
  "repute schema of a typed input %s: has its types",
  async (input) => {
    const { enrich, repute } = await prepared();
    const columnsOf = async (format: string) => {
      const { stdout, stderr } = await repute("schema", input, "--format", format);
      const found = Array.from(
        stdout.matchAll(/^ {2}["`](\w+)["`] (.+?),?$/gm),
        ([, name, type]) => [name, type],
      );
      const all = Object.fromEntries(found) as Record<string, string>;
      return { stderr, types: typedNames.map((name) => all[name]) };
    };
    const short = (type: string): string =>
      type
        .replace("timestamp with time zone", "timestamptz")
        .replace("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ")
        .replace(" without time zone", "");
    const duckdb = await columnsOf("duckdb");
    expect(duckdb.types).toEqual(Object.values(storedTypes).map(short));
    expect(duckdb.stderr).toBe("");
    const postgres = await columnsOf("postgres");
    expect(postgres.types).toEqual(Object.values(typedSamples).map((each) => short(each.postgres)));
    expect(postgres.stderr).toMatch(
      /^repute: warning: column nanos is stored as text: it is \S+\n$/,
    );
    const { stdout } = await repute("schema", input, "--format", "json-schema");
    const schema = JSON.parse(stdout) as {
      properties: Record<string, { type?: unknown; format?: string }>;
    };
    // zod takes no integers beyond those that JavaScript has.
    const query = "SELECT * REPLACE (big % 1000 AS big) FROM original";
    const rows = await enrich(
      `duckdb:in.duckdb?query=${query}`,
      "--to",
      "ndjson",
      "--shape",
      "flat",
    );
    const judge = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
    const faults = rows.stdout
      .trimEnd()
      .split("\n")
      .flatMap((line) => judge.safeParse(JSON.parse(line)).error ?? []);
    expect(faults).toEqual([]);
    const { big, day, document, yes, rate } = schema.properties;
    expect(big?.type).toEqual(["integer", "null"]);
    expect(yes?.type).toEqual(["boolean", "null"]);
    expect(rate?.type).toEqual(["number", "null", "string"]);
    expect([day?.format, document?.type]).toEqual(["date", undefined]);
  },
);
