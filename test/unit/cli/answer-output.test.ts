import { expect, test } from "vitest";
import { answerLines, answerTable } from "../../../src/cli/answer-output.js";
import { aFinding, anItem, fullIpResult } from "../../helpers/enriched-rows.js";
import { fakeContext, FakeStream } from "./fake-context.js";

const answer = { text: "192.0.2.1", item: anItem, finding: aFinding({ query: fullIpResult }) };

test("lines are written as answers come", async () => {
  const context = fakeContext();
  await answerLines(context).add(answer);
  expect(JSON.parse(context.stdout.text)).toMatchObject({ item: "192.0.2.1", kind: "ip" });
});

test("a table is written when all answers are there", async () => {
  const context = fakeContext({ columns: 80 });
  const output = answerTable(context, [
    ["item", "item"],
    ["blocklist", "mail_blocklist"],
  ]);
  await output.add(answer);
  expect(context.stdout.text).toBe("");
  output.end();
  expect(context.stdout.text).toBe("item       blocklist\n192.0.2.1  ACTIVE\n");
});

test("control characters of an answer do not reach the terminal", async () => {
  const context = fakeContext({ columns: 80 });
  const finding = aFinding({ query: { intent: "\u001B[31mred" } });
  const output = answerTable(context, [["intent", "intent"]]);
  await output.add({ ...answer, finding });
  output.end();
  expect(context.stdout.text).toBe("intent\n\uFFFD[31mred\n");
});

test("waiting for a reader that is gone ends with the reason of the abort", async () => {
  const context = fakeContext();
  const reason = new Error("stopped");
  const stdout = new FakeStream();
  stdout.write = () => false;
  const added = answerLines({ ...context, stdout }).add(answer);
  context.controller.abort(reason);
  await expect(added).rejects.toBe(reason);
});
