import { expect, test } from "vitest";
import { answerLine } from "../../../../../src/cli/commands/query/answer-card.js";
import { ndjsonEncoder } from "../../../../../src/formats/ndjson/ndjson-writer.js";
import { aFinding, aRow, anItem, fullIpResult } from "../../../../helpers/enriched-rows.js";

const finding = aFinding({ query: fullIpResult });

test("has the members of nested output", () => {
  const encoder = ndjsonEncoder({
    columns: [],
    prefix: "rep_",
    shape: "nested",
    formulaGuard: true,
  });
  const line = encoder.encode([{ row: aRow({ cells: [] }), item: anItem, finding }]);
  const { rep } = JSON.parse(line) as { rep: unknown };
  expect(JSON.parse(answerLine({ text: "192.0.2[.]1", item: anItem, finding }))).toEqual(rep);
});

test("keeps an unsupported argument as the item", () => {
  const unsupported = aFinding({ status: "unsupported", source: "local" });
  expect(
    JSON.parse(answerLine({ text: "setup.exe", item: null, finding: unsupported })),
  ).toMatchObject({
    item: "setup.exe",
    kind: null,
    source: null,
  });
});
