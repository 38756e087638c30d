import { expect, test } from "vitest";
import { answerOutput } from "../../../../../src/cli/commands/query/answer-output.js";
import { answerLine } from "../../../../../src/cli/commands/query/answer-card.js";
import { aFinding, anItem, fullIpResult } from "../../../../helpers/enriched-rows.js";
import { fakeContext } from "../../fake-context.js";

const answer = { text: "192.0.2.1", item: anItem, finding: aFinding({ query: fullIpResult }) };
const columns = [["blocklist", "mail_blocklist"]] as const;

test("writes each line as its answer arrives", async () => {
  const context = fakeContext();
  await answerOutput({ settings: { json: false }, context }, columns).add(answer);
  expect(JSON.parse(context.stdout.text)).toMatchObject({ item: "192.0.2.1", kind: "ip" });
});

test("--json writes lines on a terminal too", async () => {
  const context = fakeContext({ columns: 80 });
  await answerOutput({ settings: { json: true }, context }, columns).add(answer);
  expect(JSON.parse(context.stdout.text)).toMatchObject({ item: "192.0.2.1" });
});

test("prints one answer on a terminal as a card with every member of its JSON", async () => {
  const context = fakeContext({ columns: 80 });
  const output = answerOutput({ settings: { json: false }, context }, columns);
  await output.add(answer);
  const early = context.stdout.text;
  await output.end();
  const { text } = context.stdout;
  expect([early, text.split("\n")[0]]).toEqual(["", "verdict                  malicious"]);
  const shown = text.replaceAll(/\s+/g, " ");
  for (const value of leaves(JSON.parse(answerLine(answer)))) expect(shown).toContain(value);
});

test("prints several answers on a terminal as a table with errors below", async () => {
  const context = fakeContext({ columns: 80 });
  const output = answerOutput({ settings: { json: false }, context }, columns);
  const error = { code: "http_404", message: "nothing at this address" } as const;
  const failed = { ...answer, finding: aFinding({ status: "failed", error }) };
  for (const each of [answer, failed, failed]) await output.add(each);
  await output.end();
  expect(context.stdout.text.split("\n")).toEqual([
    "item       kind  status    verdict    blocklist  error",
    "192.0.2.1  ip    complete  malicious  ACTIVE",
    "192.0.2.1  ip    failed                          http_404",
    "192.0.2.1  ip    failed                          http_404",
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
