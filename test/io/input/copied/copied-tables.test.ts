import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { joinedText } from "../../../../src/core/json-members.js";
import { randomRounds } from "../../../helpers/random-rounds.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { queryDuckdb } from "../../output/tables/warehouse-readers.js";
import {
  common,
  copiedLines,
  decimals,
  expectCopied,
  expectKept,
  floats,
  integers,
  outputNames,
  printed,
  queryOf,
  type RandomColumns,
  randomRows,
  textLists,
  times,
} from "./random-columns.js";

const duckdbList = (list: readonly (string | null)[]): string =>
  `[${list.map((entry) => (entry === null ? "NULL" : `"${entry.replaceAll(/["\\]/g, String.raw`\$&`)}"`)).join(", ")}]`;

/** What Parquet files of DuckDB have as well. */
const stored: RandomColumns = {
  ...common,
  tiny: integers("TINYINT", -128n, 127n),
  big: integers("BIGINT", -(2n ** 63n), 2n ** 63n - 1n),
  wide: integers("UBIGINT", 0n, 2n ** 64n - 1n),
  cents: decimals("DECIMAL(9,2)", 9, 2),
  exact: decimals("DECIMAL(38,10)", 38, 10),
  single: floats("FLOAT", fc.float()),
  double: floats("DOUBLE", fc.double()),
  zoned: times("TIMESTAMPTZ", 6, "+00"),
  local: times("TIMESTAMP", 6, ""),
  nanos: times("TIMESTAMP_NS", 9, ""),
  moods: printed("ENUM('happy', 'sad')", "happy", "sad"),
  lists: textLists("VARCHAR[]", duckdbList),
};

const { infinite: _, ...plain } = stored;

const inParquet: RandomColumns = {
  ...plain,
  clocks: printed("TIME", "01:02:03.5", "24:00:00"),
  // Their bytes: months, days and milliseconds.
  spans: {
    ...printed("INTERVAL", "1 year 3 days 04:05:06"),
    cell: () => String.raw`\x0c000000030000005065e000`,
  },
};

const inDuckdb: RandomColumns = {
  ...stored,
  huge: integers("HUGEINT", -(2n ** 127n), 2n ** 127n - 1n),
  bytes: printed("BLOB", String.raw`\x00\xFFabc`, ""),
  longer: printed("INTERVAL", "1 year 2 months 3 days 04:05:06", "-1 day"),
  clocks: printed("TIME", "01:02:03.5", "23:59:59"),
  bits: printed("BIT", "10101"),
};

async function emptyDatabase(): Promise<string> {
  const file = join(await temporaryFolder(), "in.duckdb");
  await queryDuckdb("CREATE TABLE nothing (x INTEGER)", file);
  return file;
}

describe("the copy of a table", () => {
  it.each(outputNames)("of DuckDB becomes %s with its values", async (output) => {
    const file = await emptyDatabase();
    const property = fc.asyncProperty(randomRows(inDuckdb), (rows) =>
      expectKept(output, (query) => `duckdb:${file}?query=${query}`, inDuckdb, rows),
    );
    await expect(fc.assert(property, randomRounds(10))).resolves.toBeUndefined();
  });

  it.each(outputNames)("of Parquet becomes %s with its values", async (output) => {
    const file = join(await temporaryFolder(), "in.parquet");
    const write = async (query: string) => {
      await queryDuckdb(`COPY (${query}) TO '${file}' (FORMAT parquet)`);
      return file;
    };
    const property = fc.asyncProperty(randomRows(inParquet), (rows) =>
      expectKept(output, write, inParquet, rows),
    );
    await expect(fc.assert(property, randomRounds(10))).resolves.toBeUndefined();
  });

  it("has the values of DuckDB, exactly", async () => {
    const file = await emptyDatabase();
    const property = fc.asyncProperty(randomRows(inDuckdb), (rows) =>
      expectCopied(`duckdb:${file}?query=${queryOf(inDuckdb, rows)}`, inDuckdb, rows),
    );
    await expect(fc.assert(property, randomRounds(40))).resolves.toBeUndefined();
  });

  it("has the values of Parquet, exactly", async () => {
    const folder = await temporaryFolder();
    const file = join(folder, "in.parquet");
    const property = fc.asyncProperty(randomRows(inParquet), async (rows) => {
      await queryDuckdb(`COPY (${queryOf(inParquet, rows)}) TO '${file}' (FORMAT parquet)`);
      await expectCopied(file, inParquet, rows);
    });
    await expect(fc.assert(property, randomRounds(40))).resolves.toBeUndefined();
  });

  it.each([
    ["[1.10::DECIMAL(5,2), NULL]", "[1.10,null]", "[1.10,null]"],
    ["[[1, 2], []]", "[[1,2],[]]", "[[1,2],[]]"],
    ["[]::INTEGER[]", "", "[]"],
    ["[1, 2]::INTEGER[2]", "1|2", "[1,2]"],
    ["[TIMESTAMP '2024-01-02 03:04:05.5']", "2024-01-02T03:04:05.5Z", '["2024-01-02T03:04:05.5Z"]'],
    ["[0.1::FLOAT, 'NaN'::FLOAT]", "0.1|NaN", '[0.1,"NaN"]'],
    [
      `{'a b': 1, 'c"': NULL, 'd': ['x']}`,
      String.raw`{"a b":1,"c\"":null,"d":["x"]}`,
      "as the cell",
    ],
    ["NULL::STRUCT(a INTEGER)", null, "null"],
    ["map {'k': 1, 'l': NULL}", '{"k":1,"l":null}', "as the cell"],
    ["map {DATE '2024-01-02': 'x'}", '{"2024-01-02":"x"}', "as the cell"],
    ["NULL::MAP(VARCHAR, INTEGER)", null, "null"],
    [String.raw`('{"a":' || chr(10) || ' 1.10}')::JSON`, '{"a":  1.10}', undefined],
    ["chr(0) || 'x'", "\0x", String.raw`"\u0000x"`],
  ])("has %s of DuckDB", async (sql, cell, copied) => {
    const address = `duckdb:${await emptyDatabase()}?query=SELECT ${sql} AS v, 1 AS v`;
    const [names = [], [json = "", one] = []] = await copiedLines(address);
    expect([names, one]).toEqual([['"v"', '"v"'], "1"]);
    expect([joinedText(json), json]).toEqual([
      cell ?? "",
      copied === "as the cell" ? cell : (copied ?? JSON.stringify(cell)),
    ]);
  });
});
