import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { type ProgramCopy, programCopy } from "../helpers/program-copy.js";
import { root } from "./pages.js";

// Performs the recipes of docs/contributing.md on a copy of the built program: a column, a lookup endpoint,
// a flag, a text format. test/samples/another-sink.test.ts performs that of an output.

let copy: ProgramCopy;
let place: string;

beforeAll(async () => {
  copy = await programCopy();
  place = copy.folder;
  await cp(join(root, "samples", "dataset"), join(place, "samples", "dataset"), {
    recursive: true,
  });
  await addColumn();
  await addEndpoint();
  await addFlag();
  await addFormat();
  await copy.change("core/columns", ["schemaVersion = 4", "schemaVersion = 5"]);
  await writeFile(join(place, "in.txt"), "192.0.2.1\n203.0.113.77\n");
});

async function addColumn(): Promise<void> {
  await copy.change(
    "core/endpoints/query",
    [
      "  bogon: z.literal(false),",
      "  bogon: z.literal(false),\n  riskScore: z.number().nullable(),",
    ],
    [
      '    shows("list", "tags"',
      '    shows("number", "risk_score", "Risk", "riskScore"),\n    shows("list", "tags"',
    ],
  );
  const path = join(place, "samples", "dataset", "items.ndjson");
  const items = await readFile(path, "utf8");
  await writeFile(path, items.replaceAll('"type":"IP",', '"type":"IP","riskScore":87.5,'));
}

const history = `
import { z } from "zod";
import { shows } from "./endpoint.js";

const result = z.looseObject({ item: z.string(), nights: z.number().nullable() });

export const history = {
  title: "history",
  result,
  partial: null,
  schemaFor: () => result,
  columns: [shows("number", "nights", "Nights", "nights")],
  shownBy: ["nights"],
  clears: null,
  answerFrom: ({ item }) => ({ item, nights: 3 }),
};
`;

async function addEndpoint(): Promise<void> {
  await copy.create("core/endpoints/history", history);
  await copy.change("core/endpoints/endpoints", [
    'export const endpoints = { query, "quick-check": quickCheck',
    'import { history } from "./history.js";\nexport const endpoints = { query, "quick-check": quickCheck, history',
  ]);
}

async function addFlag(): Promise<void> {
  await copy.change("client/lookup/options", [
    "  partialRetries: option(",
    `  moreRetries: option(wholeNumber(0).prefault(0), {
    description: "Retries on top",
    value: "N",
  }),
  partialRetries: option(`,
  ]);
  await copy.change("client/session/session", [
    "retries: settings.retries,",
    "retries: settings.retries + (settings.moreRetries ?? 0),",
  ]);
}

const verdictsFormat = `
import { verdictOf } from "../../core/verdict.js";
import { linesEncoder } from "./ndjson/ndjson-output.js";

export const verdicts = {
  extensions: ["verdicts"],
  write: () => linesEncoder(({ item, finding }) => \`\${item?.value} is \${verdictOf(finding)}\\n\`),
  keepsReceived: () => false,
};
`;

async function addFormat(): Promise<void> {
  await copy.create("io/formats/verdicts", verdictsFormat);
  await copy.change("io/formats/types", ['"ndjson", "stix",', '"ndjson", "verdicts", "stix",']);
  await copy.change("io/formats/registry", [
    "export const formats = {",
    'import { verdicts } from "./verdicts.js";\nexport const formats = {\n  verdicts,',
  ]);
}

const enrich = ["enrich", "in.txt", "--local", "--quiet", "--fail-on", "never", "--restart"];

/** The rows as objects. */
async function rows(...flags: readonly string[]): Promise<readonly Record<string, unknown>[]> {
  expect(await copy.run(...enrich, ...flags, "-o", "out.ndjson")).toMatchObject({
    code: 0,
    stderr: "",
  });
  const text = await readFile(join(place, "out.ndjson"), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("a member of an endpoint has a column, and null where nothing is known", async () => {
  const scores = (await rows("--shape", "flat")).map((row) => row["rep_risk_score"]);
  expect(scores).toEqual([87.5, null]);
  const { stdout } = await copy.run("schema", "--format", "postgres");
  expect(stdout).toMatch(/"?rep_risk_score"? double precision/);
});

test("an endpoint is asked, and what it answers is in every output", async () => {
  const asked = ["--lookups", "query,history"];
  expect(
    (await rows(...asked)).map(({ rep }) => (rep as Record<string, unknown>)["history"]),
  ).toEqual([
    { item: "192.0.2.1", nights: 3 },
    { item: "203.0.113.77", nights: 3 },
  ]);
  expect((await rows(...asked, "--shape", "flat")).map((row) => row["rep_nights"])).toEqual([3, 3]);
  const manifest = JSON.parse(await readFile(join(place, "out.ndjson.manifest.json"), "utf8")) as {
    readonly requests: Record<string, { readonly total: number }>;
  };
  expect(manifest.requests["history"]?.total).toBe(2);
});

test("a flag is parsed and explained", async () => {
  expect((await copy.run("enrich", "--help")).stdout).toContain("--more-retries N");
  expect(await copy.run(...enrich, "--more-retries", "some", "-o", "out.csv")).toMatchObject({
    code: 2,
  });
  const failing = ["--retries", "0", "--max-failed", "100%"];
  expect(await rows(...failing, "--more-retries", "1")).toHaveLength(2);
});

test("a text format is chosen by name and by extension", async () => {
  expect(await copy.run(...enrich, "-o", "out.verdicts")).toMatchObject({ code: 0, stderr: "" });
  expect(await readFile(join(place, "out.verdicts"), "utf8")).toMatch(
    /^192\.0\.2\.1 is malicious\n203/,
  );
  expect((await copy.run(...enrich, "--to", "verdicts", "-o", "-")).stdout).toContain(
    "192.0.2.1 is ",
  );
});
