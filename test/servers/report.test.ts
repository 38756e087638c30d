import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import axe from "axe-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser } from "../helpers/browser.js";
import { runRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

let browser: Browser;

beforeAll(async () => {
  browser = await Browser.open();
});
afterAll(() => browser.close());

const evil = [
  "<script>document.title='ran'</script>",
  "</style><img src=http://127.0.0.1:9/x onerror=document.title='ran'>",
  "javascript:document.title='ran'",
  "abc\u202Egnp.exe",
  "x".repeat(10_000),
  `"><svg onload=document.title='ran'>`,
].map((text) => `"${text.replaceAll('"', '""')}"`);

const inputs = {
  empty: "item,note\n",
  hostile: [
    `item,${evil[0]},${evil[1]}`,
    ...Array.from({ length: 60 }, (_, n) =>
      [`203.0.113.${n}`, evil[n % evil.length], evil[(n + 1) % evil.length]].join(","),
    ),
    ...evil.map((text) => `${text},${text},${text}`),
  ].join("\n"),
};

/** Enriches an input with invented answers and shows the page of its report. */
async function reportOn(input: string): Promise<string> {
  const folder = await temporaryFolder();
  const [from, out, page] = ["in.csv", "out.csv", "report.html"].map((name) => join(folder, name));
  await writeFile(from!, input);
  const args = ["enrich", from!, "-o", out!, "--item-column", "item", "--report", page!];
  const flags = ["--local", "--synthetic", "1", "--fail-on", "never"];
  expect(await runRepute([...args, ...flags], { ownProcess: true })).toMatchObject({ code: 0 });
  return page!;
}

const views = {
  light: {},
  dark: { dark: true },
  print: { print: true },
  narrow: { width: 320 },
  wide: { width: 3840, height: 2160 },
};

test.each(Object.keys(inputs) as (keyof typeof inputs)[])(
  "the page of %s input asks for nothing, says nothing and runs nothing",
  async (name) => {
    const page = await reportOn(inputs[name]);
    for (const view of Object.values(views)) {
      await browser.show(page, view);
      expect(await browser.evaluate("document.title")).toMatch(/^Reputation report: /);
      expect(await browser.evaluate("document.scripts.length + document.images.length")).toBe(0);
      // The style is applied, which means that the policy allows it.
      expect(await browser.evaluate("getComputedStyle(document.body).marginTop")).toBe("0px");
      const overflow = "document.documentElement.scrollWidth - innerWidth";
      expect(await browser.evaluate(overflow)).toBeLessThanOrEqual(0);
      expect(browser.events()).toEqual({ requests: [], console: [] });
    }
  },
);

test.each(["light", "dark", "narrow"] as const)("axe finds no fault in %s", async (name) => {
  const page = await reportOn(inputs.hostile);
  await browser.show(page, views[name]);
  await browser.evaluate(axe.source);
  const found = await browser.evaluate(
    "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`))",
  );
  expect(found).toEqual([]);
});

test("dark and light differ", async () => {
  const page = await reportOn(inputs.empty);
  const colour = "getComputedStyle(document.body).backgroundColor";
  await browser.show(page, views.light);
  const light = await browser.evaluate(colour);
  await browser.show(page, views.dark);
  expect(await browser.evaluate(colour)).not.toBe(light);
});
