import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { transform } from "rolldown/utils";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runRepute, type RunReputeOptions, type RunReputeResult } from "../helpers/run-repute.js";

// Performs the recipes of docs/contributing.md on a copy of the built program: a column, a lookup endpoint,
// a flag, a text format. test/samples/another-sink.test.ts performs that of an output.

const root = fileURLToPath(new URL("../..", import.meta.url));

let copy: string;
let program: Required<Pick<RunReputeOptions, "runToEnd">>;

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), "repute-test-"));
  const built = join(root, "dist");
  await cp(built, join(copy, "dist"), {
    recursive: true,
    filter: (path) => !/^program$|\.d\.ts$/.test(relative(built, path)),
  });
  await cp(join(root, "package.json"), join(copy, "package.json"));
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  await cp(join(root, "samples", "dataset"), join(copy, "samples", "dataset"), { recursive: true });
  await addColumn();
  await addEndpoint();
  await addFlag();
  await addFormat();
  await change("core/columns", ["schemaVersion = 4", "schemaVersion = 5"]);
  const path = pathToFileURL(join(copy, "dist", "cli", "command-line", "command-line.js")).href;
  program = (await import(path)) as typeof program;
  await writeFile(join(copy, "in.txt"), "192.0.2.1\n203.0.113.77\n");
});

afterAll(() => rm(copy, { recursive: true, force: true }));

type Change = readonly [before: string, after: string];

const changed = new Map<string, string>();

/** Changes a file of `src`, and builds it. */
async function change(path: string, ...changes: readonly Change[]): Promise<void> {
  let source = changed.get(path) ?? (await readFile(join(root, "src", `${path}.ts`), "utf8"));
  for (const [before, after] of changes) {
    expect(source).toContain(before);
    source = source.replace(before, after);
  }
  changed.set(path, source);
  await create(path, source);
}

async function create(path: string, source: string): Promise<void> {
  const { code, errors } = await transform(`${path}.ts`, source);
  expect(errors).toEqual([]);
  await mkdir(join(copy, "dist", path, ".."), { recursive: true });
  await writeFile(join(copy, "dist", `${path}.js`), code);
}

async function addColumn(): Promise<void> {
  await change(
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
  const path = join(copy, "samples", "dataset", "items.ndjson");
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
  await create("core/endpoints/history", history);
  await change("core/endpoints/endpoints", [
    "export const endpoints = { query,",
    'import { history } from "./history.js";\nexport const endpoints = { history, query,',
  ]);
  await change("core/finding", [
    '= ["query", "quick-check"]',
    '= ["query", "quick-check", "history"]',
  ]);
}

async function addFlag(): Promise<void> {
  await change("client/lookup/options", [
    "  partialRetries: option(",
    `  moreRetries: option(wholeNumber(0).prefault(0), {
    description: "Retries on top",
    value: "N",
  }),
  partialRetries: option(`,
  ]);
  await change("client/session/session", [
    "retries: settings.retries,",
    "retries: settings.retries + (settings.moreRetries ?? 0),",
  ]);
}

const verdictsFormat = `
import { verdictOf } from "../../core/verdict.js";
import { linesEncoder } from "./lines-encoder.js";

export const verdicts = {
  extensions: ["verdicts"],
  write: () => linesEncoder(({ item, finding }) => \`\${item?.value} is \${verdictOf(finding)}\\n\`),
  keepsReceived: () => false,
};
`;

async function addFormat(): Promise<void> {
  await create("io/formats/verdicts", verdictsFormat);
  await change("io/formats/types", ['"ndjson", "stix",', '"ndjson", "verdicts", "stix",']);
  await change("io/formats/registry", [
    "export const formats = {",
    'import { verdicts } from "./verdicts.js";\nexport const formats = {\n  verdicts,',
  ]);
}

function repute(...args: readonly string[]): Promise<RunReputeResult> {
  return runRepute(args, { cwd: copy, runToEnd: program.runToEnd });
}

const enrich = ["enrich", "in.txt", "--local", "--quiet", "--fail-on", "never", "--restart"];

/** The rows as objects. */
async function rows(...flags: readonly string[]): Promise<readonly Record<string, unknown>[]> {
  expect(await repute(...enrich, ...flags, "-o", "out.ndjson")).toMatchObject({
    code: 0,
    stderr: "",
  });
  const text = await readFile(join(copy, "out.ndjson"), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("a member of an endpoint has a column, and null where nothing is known", async () => {
  const scores = (await rows("--shape", "flat")).map((row) => row["rep_risk_score"]);
  expect(scores).toEqual([87.5, null]);
  const { stdout } = await repute("schema", "--format", "postgres");
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
  const manifest = JSON.parse(await readFile(join(copy, "out.ndjson.manifest.json"), "utf8")) as {
    readonly requests: Record<string, { readonly total: number }>;
  };
  expect(manifest.requests["history"]?.total).toBe(2);
});

test("a flag is parsed and explained", async () => {
  expect((await repute("enrich", "--help")).stdout).toContain("--more-retries N");
  expect(await repute(...enrich, "--more-retries", "some", "-o", "out.csv")).toMatchObject({
    code: 2,
  });
  const failing = ["--retries", "0", "--max-failed", "100%"];
  expect(await rows(...failing, "--more-retries", "1")).toHaveLength(2);
});

test("a text format is chosen by name and by extension", async () => {
  expect(await repute(...enrich, "-o", "out.verdicts")).toMatchObject({ code: 0, stderr: "" });
  expect(await readFile(join(copy, "out.verdicts"), "utf8")).toMatch(
    /^192\.0\.2\.1 is malicious\n203/,
  );
  expect((await repute(...enrich, "--to", "verdicts", "-o", "-")).stdout).toContain(
    "192.0.2.1 is ",
  );
});
