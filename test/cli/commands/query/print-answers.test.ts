import { expect, test } from "vitest";
import { type AnsweredItem, printAnswers } from "../../../../src/cli/commands/query.js";
import { ndjsonEncoder } from "../../../../src/io/formats/ndjson/ndjson-output.js";
import { aFinding, anItem, aRow } from "../../../helpers/enriched-rows.js";
import { ipResult } from "../../../client/api/answers.js";
import { fakeContext } from "../../fake-context.js";

const own = { ...ipResult(), item: anItem.value };
const answer = { text: own.item, item: anItem, finding: aFinding({ query: own }) };

/** What is printed for some answers. */
async function printed(answers: readonly AnsweredItem[], columns?: number, json = false) {
  const context = fakeContext(columns === undefined ? {} : { columns });
  async function* each() {
    yield* answers;
  }
  const own = { blocklist: "mail_blocklist" };
  await printAnswers({ settings: { json }, context }, each(), own);
  return context.stdout.text;
}

test.each([
  ["to a pipe", undefined, false],
  ["with --json", 80, true],
])("prints a line of JSON with the members of nested output %s", async (_, columns, json) => {
  const shape = { prefix: "rep_", shape: "nested" } as const;
  const line = ndjsonEncoder({ columns: [], ...shape }).encode([
    { row: aRow({ cells: [] }), item: anItem, finding: answer.finding },
  ]);
  const { rep } = JSON.parse(line) as { rep: unknown };
  expect(JSON.parse(await printed([answer], columns, json))).toEqual(rep);
});

test("keeps an unsupported argument as the item", async () => {
  const finding = aFinding({ status: "unsupported", source: "local" });
  const text = await printed([{ text: "setup.exe", item: null, finding }]);
  expect(JSON.parse(text)).toMatchObject({ item: "setup.exe", kind: null, source: null });
});

test("prints one answer on a terminal as a card with every member of its JSON", async () => {
  const text = await printed([answer], 80);
  expect(text).toMatch(/^verdict +malicious\n/);
  const shown = text.replaceAll(/\s+/g, " ");
  for (const value of leaves(JSON.parse(await printed([answer])))) expect(shown).toContain(value);
});

test("keeps verdict and status on a card, whatever members the service adds", async () => {
  const query = { ...ipResult(), verdict: "benign", status: "fine", attempts: 9, kind: "host" };
  const text = await printed([{ ...answer, finding: aFinding({ query }) }], 80);
  expect(text).toMatch(/^verdict +malicious\nstatus +complete\nkind +ip\n/);
  expect(text).not.toMatch(/benign|fine|host|attempts +9/);
});

test("prints several answers on a terminal as a table with errors below", async () => {
  const error = { code: "http_404", message: "nothing at this address" } as const;
  const failed = { ...answer, finding: aFinding({ status: "failed", error }) };
  expect((await printed([answer, failed, failed], 80)).split("\n")).toEqual([
    "item       kind  status    verdict    error     blocklist",
    "192.0.2.1  ip    complete  malicious            ACTIVE",
    "192.0.2.1  ip    failed               http_404",
    "192.0.2.1  ip    failed               http_404",
    "",
    "http_404: nothing at this address (2 items)",
    "",
  ]);
});

/** Every text and number in a JSON value. */
function leaves(value: unknown): readonly string[] {
  if (typeof value === "string" || typeof value === "number") return [String(value)];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leaves) : [];
}
