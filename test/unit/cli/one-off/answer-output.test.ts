import { expect, test } from "vitest";
import { answerOutput } from "../../../../src/cli/one-off/answered-item.js";
import { aFinding, anItem, fullIpResult } from "../../../helpers/enriched-rows.js";
import { fakeContext } from "../fake-context.js";

const answer = { text: "192.0.2.1", item: anItem, finding: aFinding({ query: fullIpResult }) };
const columns = [
  ["item", "item"],
  ["blocklist", "mail_blocklist"],
] as const;

test("lines are written as answers come", async () => {
  const context = fakeContext();
  await answerOutput({ settings: { json: false }, context }, columns).add(answer);
  expect(JSON.parse(context.stdout.text)).toMatchObject({ item: "192.0.2.1", kind: "ip" });
});

test("--json makes lines for a terminal too", async () => {
  const context = fakeContext({ columns: 80 });
  await answerOutput({ settings: { json: true }, context }, columns).add(answer);
  expect(JSON.parse(context.stdout.text)).toMatchObject({ item: "192.0.2.1" });
});

test("a table is written when all answers are there", async () => {
  const context = fakeContext({ columns: 80 });
  const output = answerOutput({ settings: { json: false }, context }, columns);
  await output.add(answer);
  const early = context.stdout.text;
  await output.end();
  expect([early, context.stdout.text]).toEqual(["", "item       blocklist\n192.0.2.1  ACTIVE\n"]);
});
