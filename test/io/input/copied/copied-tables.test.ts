import { expect, it } from "vitest";
import { randomRounds } from "../../../helpers/random-rounds.js";
import { copiedValue, inputs, outputs, testCopies, testOutputs } from "./random-columns.js";

for (const [name, input] of Object.entries(inputs)) {
  testOutputs(name, input, outputs, randomRounds(10));
  testCopies(name, input, randomRounds(40));
}

it.each([
  ["[1.10::DECIMAL(5,2), NULL]", "[1.10,null]"],
  ["[[1, 2], []]", "[[1,2],[]]"],
  ["[]::INTEGER[]", "", "[]"],
  ["[1, 2]::INTEGER[2]", "1|2", "[1,2]"],
  ["[TIMESTAMP '2024-01-02 03:04:05.5']", "2024-01-02T03:04:05.5Z", '["2024-01-02T03:04:05.5Z"]'],
  ["[0.1::FLOAT, 'NaN'::FLOAT]", "0.1|NaN", '[0.1,"NaN"]'],
  [`{'a b': 1, 'c"': NULL, 'd': ['x']}`, String.raw`{"a b":1,"c\"":null,"d":["x"]}`],
  ["NULL::STRUCT(a INTEGER)", "", "null"],
  ["map {'k': 1, 'l': NULL}", '{"k":1,"l":null}'],
  ["map {DATE '2024-01-02': 'x'}", '{"2024-01-02":"x"}'],
  ["NULL::MAP(VARCHAR, INTEGER)", "", "null"],
  [
    String.raw`('{"a":' || chr(10) || ' 1.10}')::JSON`,
    '{"a":  1.10}',
    String.raw`"{\"a\":  1.10}"`,
  ],
  ["chr(0) || 'x'", "\0x", String.raw`"\u0000x"`],
])("the copy of a table has %s of DuckDB", async (sql, cell, json = cell) => {
  const address = await inputs.DuckDB.addressOf(`SELECT ${sql} AS v, 1 AS v`);
  expect(await copiedValue(address)).toEqual([cell, json]);
});
