import { existsSync } from "node:fs";
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

test("every test file that the page names exists", () => {
  const files = [...text.matchAll(/`(test\/[^`]+)`/g)].map(([, file = ""]) => file);
  expect(files.length).toBeGreaterThan(50);
  expect(files.filter((file) => !existsSync(new URL(`../../${file}`, import.meta.url)))).toEqual(
    [],
  );
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
