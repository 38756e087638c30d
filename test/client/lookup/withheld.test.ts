import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Item } from "../../../src/core/item/item.js";
import { recogniseItem } from "../../../src/core/item/recognise.js";
import { openWithheld, type WithheldChoice } from "../../../src/client/lookup/withheld.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { complete, scripted, unaborted } from "./findings.js";

function itemOf(text: string): Item {
  const { item } = recogniseItem(text);
  if (item === null) throw new Error(`${text} is no item`);
  return item;
}

/** A wrapper that holds back what a list says, around a lookup that answers everything. */
async function withholding(choice: WithheldChoice, list?: string) {
  const path = join(await temporaryFolder(), "list.txt");
  await writeFile(path, list ?? "");
  const withheld = await openWithheld({ ...choice, exclude: list === undefined ? [] : [path] });
  const next = scripted(complete());
  const ask = (text: string) => withheld.wrap(next)(itemOf(text), unaborted());
  return { path, withheld, ask, asked: next.asked };
}

test.each(["10.0.0.1", "::1", "fd00::1", "::ffff:10.0.0.1", "::ffff:192.168.1.1"])(
  "answers the reserved address %s without a request, unless asked to send it",
  async (text) => {
    const { ask, asked } = await withholding({});
    const result = { item: itemOf(text).value, type: "IP_BOGON", bogon: true };
    expect(await ask(text)).toMatchObject({
      status: "complete",
      answers: { query: { result } },
      source: "local",
      attempts: 0,
    });
    for (const other of ["8.8.8.8", "example.com"]) await ask(other);
    const asking = await withholding({ bogons: "ask" });
    await asking.ask(text);
    expect([asked.length, asking.asked.length]).toEqual([2, 1]);
  },
);

test("names the list that holds an item back", async () => {
  const { path, ask, asked } = await withholding({}, "example.com\n");
  expect(await ask("a.example.com")).toMatchObject({
    status: "unsupported",
    error: { code: "excluded", message: `on a list of what must not be sent: ${path}` },
    attempts: 0,
  });
  expect(asked).toHaveLength(0);
});

test("holds a URL back as it is and as it would be sent", async () => {
  const list = "https://example.com/a\nhttps://example.com/b?c=1\n";
  const { withheld } = await withholding({ urlQuery: "strip" }, list);
  const isHeld = (path: string) => withheld.listOf(itemOf(`https://example.com/${path}`)) !== null;
  expect(["a?token=1", "b?c=1", "b?c=2"].map(isHeld)).toEqual([true, true, false]);
});

test.each([
  ["https://example.com/a?b#c", "https://example.com/a"],
  ["https://example.com/a#c?b", "https://example.com/a"],
  ["https://example.com/a", "https://example.com/a"],
])("sends %s as %s", async (written, sent) => {
  const { ask, asked } = await withholding({ urlQuery: "strip" });
  await ask(written);
  expect(asked).toEqual([{ kind: "url", value: sent }]);
});
