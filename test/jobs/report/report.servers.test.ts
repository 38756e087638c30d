import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import axe from "axe-core";
import { chromium } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { runRepute } from "../../helpers/run-repute.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium" });
afterAll(() => browser.close());

const shown = await browser.newPage();
/** What the page that is shown asked for, said and threw. */
const events: string[] = [];
shown.on("request", (request) => events.push(request.url()));
shown.on("console", (message) => events.push(message.text()));
shown.on("pageerror", (error) => events.push(String(error)));

const evil = [
  "<script>document.title='ran'</script>",
  "</style><img src=http://127.0.0.1:9/x onerror=document.title='ran'>",
  "javascript:document.title='ran'",
  "abc\u202Egnp.exe",
  "x".repeat(10_000),
  `"><svg onload=document.title='ran'>`,
].map((text) => `"${text.replaceAll('"', '""')}"`);

/** A day of a mixed dump: addresses, domains, URLs, and rows that are no item. */
const dump = [
  "item,source",
  ...Array.from({ length: 160 }, (_, n) => {
    const made = [`198.51.100.${n % 250}`, `host-${n}.example.org`, `https://example.net/${n}`];
    return `${[...made, "setup.exe"][n % 4]},"sensor ${n % 3}"`;
  }),
].join("\n");

const samples = fileURLToPath(new URL("../../../samples/indicators.csv", import.meta.url));
const demo = (await readFile(samples, "utf8")).replace("indicator", "item");

const hostile = [
  `item,${evil[0]},${evil[1]}`,
  ...Array.from({ length: 60 }, (_, n) =>
    [`203.0.113.${n}`, evil[n % evil.length], evil[(n + 1) % evil.length]].join(","),
  ),
  ...evil.map((text) => `${text},${text},${text}`),
].join("\n");

async function repute(...args: readonly string[]): Promise<void> {
  expect(await runRepute(args, { ownProcess: true })).toMatchObject({ code: 0 });
}

/** Enriches an input with invented answers of a seed. */
function enrich(input: string, output: string, seed: string, ...more: readonly string[]) {
  const flags = ["--local", "--synthetic", seed, "--fail-on", "never", ...more];
  return repute("enrich", input, "-o", output, "--item-column", "item", ...flags);
}

/** Writes the page that a test is about and returns its path. */
type MakePage = (at: (name: string) => string) => Promise<string>;

const reportOn =
  (input: string, ...flags: readonly string[]): MakePage =>
  async (at) => {
    await writeFile(at("in.csv"), input);
    await enrich(at("in.csv"), at("out.csv"), "1", "--report", at("report.html"), ...flags);
    return at("report.html");
  };

/** What changed between two nights with other invented answers. */
const changesOf =
  (input: string): MakePage =>
  async (at) => {
    await writeFile(at("in.csv"), input);
    for (const seed of ["1", "2"]) await enrich(at("in.csv"), at(`${seed}.csv`), seed);
    await repute("diff", at("1.csv"), at("2.csv"), "-o", at("diff.html"));
    return at("diff.html");
  };

/** With what changed since an earlier night. */
const comparedReportOn =
  (input: string): MakePage =>
  async (at) => {
    await changesOf(input)(at);
    const more = ["--against", at("1.csv")];
    await repute("report", at("2.csv"), ...more, "-o", at("report.html"));
    return at("report.html");
  };

const pages: Readonly<Record<string, MakePage>> = {
  "the report on no rows": reportOn("item,note\n", "--min-rows", "0"),
  "the report on hostile data": reportOn(hostile),
  "the report of the demo": reportOn(demo),
  "the report on a dump, compared": comparedReportOn(dump),
  "the changes of hostile data": changesOf(hostile),
};

const views: Readonly<
  Record<string, { width?: number; height?: number; dark?: boolean; print?: boolean }>
> = {
  light: {},
  dark: { dark: true },
  print: { print: true },
  // A4 within its margins.
  paper: { print: true, width: 673 },
  tablet: { width: 800 },
  "half a screen": { width: 500 },
  phone: { width: 380 },
  narrow: { width: 320 },
  wide: { width: 3840, height: 2160 },
};

test.each(Object.keys(pages))(
  "%s asks for nothing, says nothing, runs nothing, fits every view, and axe finds no fault",
  async (name) => {
    const folder = await temporaryFolder();
    const page = await pages[name]!((file) => join(folder, file));
    const { href } = pathToFileURL(page);
    const colours = new Set<unknown>();
    for (const [view, { width = 1280, height = 900, dark, print }] of Object.entries(views)) {
      await shown.setViewportSize({ width, height });
      await shown.emulateMedia({
        media: print ? "print" : "screen",
        colorScheme: dark ? "dark" : "light",
      });
      events.length = 0;
      await shown.goto(href);
      expect(await shown.title()).toMatch(/^(?:Reputation report: |Changes from )/);
      expect(await shown.evaluate("document.scripts.length + document.images.length")).toBe(0);
      // The style is applied, which means that the policy allows it.
      expect(await shown.evaluate("getComputedStyle(document.body).marginTop")).toBe("0px");
      const overflow = "document.documentElement.scrollWidth - innerWidth";
      expect(await shown.evaluate(overflow), view).toBeLessThanOrEqual(0);
      expect(await shown.evaluate(looseTiles), view).toEqual([]);
      colours.add(await shown.evaluate("getComputedStyle(document.body).backgroundColor"));
      expect(events, view).toEqual([href]);
      expect(judged.has(view) ? await faults() : [], view).toEqual([]);
    }
    // Dark, light and paper.
    expect(colours.size).toBe(3);
  },
);

/** Tiles whose row does not fill the page, and those from which text sticks out. */
const looseTiles = `[...document.querySelectorAll(".tiles")].flatMap((list) => {
  const tiles = [...list.children];
  const edge = (tile) => tile.getBoundingClientRect();
  return tiles.filter((tile, n) => {
    const isLast = n + 1 === tiles.length || edge(tiles[n + 1]).top > edge(tile).top;
    const isLoose = isLast && Math.abs(edge(tile).right - edge(list).right) > 1;
    return isLoose || tile.scrollWidth > tile.clientWidth;
  }).map((tile) => tile.textContent);
})`;

/** Views that axe judges; it looks at what they have in common once. */
const judged = new Set(["light", "dark", "narrow"]);

/** What axe finds on the page that is shown. */
async function faults(): Promise<unknown> {
  await shown.evaluate(axe.source);
  return shown.evaluate(
    "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`))",
  );
}
