import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Item } from "../../../src/core/item/item.js";
import { recogniseItem } from "../../../src/core/item/recognise.js";
import { openWithheld } from "../../../src/client/lookup/withheld.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { complete, otherItem, scripted, unaborted } from "./findings.js";

function itemOf(text: string): Item {
  const { item } = recogniseItem(text);
  if (item === null) throw new Error(`${text} is no item`);
  return item;
}

async function listOf(text: string): Promise<string> {
  const path = join(await temporaryFolder(), "list.txt");
  await writeFile(path, text);
  return path;
}

describe("reserved ranges", () => {
  test.each(["10.0.0.1", "::1", "fd00::1", "::ffff:10.0.0.1", "::ffff:192.168.1.1"])(
    "answers %s without a request",
    async (text) => {
      const next = scripted(complete());
      const { wrap } = await openWithheld({});
      const finding = await wrap(next)(itemOf(text), unaborted());
      expect(next.asked).toHaveLength(0);
      expect(finding).toMatchObject({
        status: "complete",
        answers: {
          query: { result: { item: itemOf(text).value, type: "IP_BOGON", bogon: true } },
        },
        source: "local",
        attempts: 0,
      });
    },
  );

  test("asks for them on request, and for anything else", async () => {
    const next = scripted(complete());
    const asking = (await openWithheld({ bogons: "ask" })).wrap(next);
    await asking(itemOf("10.0.0.1"), unaborted());
    const { wrap } = await openWithheld({});
    await wrap(next)(itemOf("8.8.8.8"), unaborted());
    await wrap(next)(otherItem, unaborted());
    expect(next.asked).toHaveLength(3);
  });
});

describe("exclusions", () => {
  test("name the list that holds an item back", async () => {
    const path = await listOf("example.com\n");
    const next = scripted(complete());
    const { wrap } = await openWithheld({ exclude: [path] });
    const finding = await wrap(next)(itemOf("a.example.com"), unaborted());
    expect(next.asked).toHaveLength(0);
    expect(finding).toMatchObject({
      status: "unsupported",
      error: { code: "excluded", message: `on a list of what must not be sent: ${path}` },
      attempts: 0,
    });
  });

  test("hold a URL back as it is and as it would be sent", async () => {
    const exclude = [await listOf("https://example.com/a\nhttps://example.com/b?c=1\n")];
    const withheld = await openWithheld({ exclude, urlQuery: "strip" });
    expect(withheld.listOf(itemOf("https://example.com/a?token=1"))).not.toBeNull();
    expect(withheld.listOf(itemOf("https://example.com/b?c=1"))).not.toBeNull();
    expect(withheld.listOf(itemOf("https://example.com/b?c=2"))).toBeNull();
  });
});

test.each([
  ["https://example.com/a?b#c", "https://example.com/a"],
  ["https://example.com/a#c?b", "https://example.com/a"],
  ["https://example.com/a", "https://example.com/a"],
])("sends %s as %s", async (written, sent) => {
  const next = scripted(complete());
  const { wrap } = await openWithheld({ urlQuery: "strip" });
  await wrap(next)(itemOf(written), unaborted());
  expect(next.asked).toEqual([{ kind: "url", value: sent }]);
});
