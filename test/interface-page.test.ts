import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { z } from "zod";
import { calls, caseStates } from "../src/client/api/calls.js";
import { endpoints } from "../src/core/endpoints/endpoints.js";
import {
  abuseContactStatuses,
  resultTypes,
  blocklistStatuses,
  intents,
} from "../src/core/endpoints/endpoint.js";
import { webhookSchema } from "../src/jobs/webhooks/webhook.js";

const page = new URL("../docs/interface.md", import.meta.url);
const text = await readFile(fileURLToPath(page), "utf8");

/** Every member that a schema has, at any depth. */
function namesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const { properties } = value as Readonly<Record<string, unknown>>;
  const members =
    typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
  return [...members, ...Object.values(value).flatMap(namesIn)];
}

const schemas = [
  ...Object.values(endpoints).map(({ result }) => result),
  ...Object.values(calls).map(({ schema }) => schema),
];
const parameters = ["includeDescriptions", "offset", "limit", "snapshot", "cursor"];

test("every test file that the page names exists", () => {
  const files = [...text.matchAll(/`(test\/[^`]+)`/g)].map(([, file = ""]) => file);
  expect(files.length).toBeGreaterThan(30);
  expect(files.filter((file) => !existsSync(new URL(`../${file}`, import.meta.url)))).toEqual([]);
});

test("the page has every endpoint of the interface", () => {
  const paths = [
    ...Object.keys(endpoints).map((endpoint) => `/${endpoint}/{item}`),
    ...Object.values(calls).map(({ path }) => path),
  ];
  expect(paths.filter((path) => !text.includes(`${path}\``))).toEqual([]);
});

test("the page has every field and every parameter of the interface", () => {
  const members = schemas.flatMap((schema) => namesIn(z.toJSONSchema(schema)));
  const names = new Set([...members, ...parameters, ...Object.keys(webhookSchema.shape)]);
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

test("every endpoint and every rule of the page names a test", () => {
  const [, endpoints = "", rules = ""] =
    /\n## Endpoints\n([^]*?)\n## Fields\n[^]*?\n## Rules\n([^]*)/.exec(text) ?? [];
  const rows = [endpoints, rules].flatMap(
    (part) => part.match(/^\| (?!---|Rule|Endpoint).*/gm) ?? [],
  );
  expect(rows.length).toBeGreaterThan(25);
  expect(rows.filter((row) => !row.includes(".test.ts"))).toEqual([]);
});
