import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openApiDocument } from "../../src/api/openapi.js";
import {
  abuseContactStatuses,
  blocklistStatuses,
  caseStates,
  intents,
  resultTypes,
} from "../../src/api/schema/vocabulary.js";
import { webhookSchema } from "../../src/webhooks/configuration.js";

const page = new URL("../../docs/interface.md", import.meta.url);
const text = await readFile(fileURLToPath(page), "utf8");

/** Tests that the page names: `[name](../test/NAME.test.ts): title`, up to the end of a cell or bracket. */
const named = [
  ...text.matchAll(
    /\[[\w-]+\]\((\.\.\/test\/[\w/-]+\.test\.ts)\): (.+?)(?=<br>| \||\)[.,]|\)\n|\n)/g,
  ),
].map(([, file = "", title = ""]) => ({ file, title }));

/** Every member that a schema of the document has, at any depth, and every parameter. */
function namesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const { properties, in: place, name } = value as Readonly<Record<string, unknown>>;
  const members =
    typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
  const parameter = typeof place === "string" && place === "query" ? [String(name)] : [];
  return [...members, ...parameter, ...Object.values(value).flatMap(namesIn)];
}

const document = JSON.parse(JSON.stringify(openApiDocument())) as { readonly paths: object };

test("every test that the page names exists", async () => {
  const missing: string[] = [];
  for (const { file, title } of named) {
    const source = await readFile(fileURLToPath(new URL(file, page)), "utf8").catch(() => "");
    if (!source.includes(`(${JSON.stringify(title)}, `) && !isOnLineOfItsOwn(source, title)) {
      missing.push(`${file}: ${title}`);
    }
  }
  expect([named.length > 50, missing]).toEqual([true, []]);
});

/** A long title stands on a line of its own, as the formatter has it. */
function isOnLineOfItsOwn(source: string, title: string): boolean {
  return source.split("\n").some((line) => line.trim() === `${JSON.stringify(title)},`);
}

test("every link of a test is one that is checked", () => {
  expect(text.match(/\.test\.ts/g)).toHaveLength(named.length);
});

test("the page has every endpoint of the interface", () => {
  const paths = Object.keys(document.paths);
  expect(paths.filter((path) => !text.includes(`${path}\``))).toEqual([]);
});

test("the page has every field and every parameter of the interface", () => {
  const names = new Set([...namesIn(document), ...Object.keys(webhookSchema.shape)]);
  expect([...names].filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});

test("the page has every value of the interface's enumerations", () => {
  const values = [
    ...resultTypes,
    ...blocklistStatuses,
    ...intents,
    ...abuseContactStatuses,
    ...caseStates,
  ];
  expect(values.filter((value) => !text.includes(`\`${value}\``))).toEqual([]);
});

test("every row of the page names a test", () => {
  const rows = text
    .split("\n")
    .filter((line) => /^\| (?!---|Field|Rule|Limit|Endpoint)/.test(line));
  expect(rows.filter((row) => !row.includes(".test.ts"))).toEqual([]);
});
