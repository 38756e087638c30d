import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/core/finding.js";
import { checkWebhook } from "../../../src/jobs/webhooks/check.js";
import { readWebhook, type Webhook } from "../../../src/jobs/webhooks/configuration.js";
import { prepareCall } from "../../../src/jobs/webhooks/send.js";

const folder = new URL("../../../samples/webhooks/", import.meta.url);

function sample(file: string): Promise<Webhook> {
  return readWebhook(fileURLToPath(new URL(file, folder)));
}

async function sampleContext(): Promise<JsonObject> {
  return JSON.parse(await readFile(new URL("case-context.json", folder), "utf8")) as JsonObject;
}

describe("the samples", () => {
  it.each([
    ["notify-crm.json", '"note":"Abuse report for Ada Example (contract 48213)"', '"customer":{"'],
    ["chat-message.json", "Abuse case of Ada Example <ada@example.net> needs a look."],
  ])("include %s, without faults", async (file, ...texts) => {
    const [webhook, context] = [await sample(file), await sampleContext()];
    expect(checkWebhook(webhook, context)).toEqual([]);
    const { body } = prepareCall(webhook, context);
    for (const text of texts) expect(body).toContain(text);
  });

  it("include one with subscriber data as static text, which causes a warning", async () => {
    const problems = checkWebhook(await sample("static-subscriber.json"), await sampleContext());
    expect(problems.map(({ level, code, pointer }) => [level, code, pointer])).toEqual([
      ["warning", "static_data", "/path"],
      ["warning", "static_data", "/payload/email"],
      ["warning", "static_data", "/payload/greeting"],
    ]);
  });
});
