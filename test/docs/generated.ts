import { parse } from "csv-parse/sync";
import type { z } from "zod";
import { schemas } from "../../src/library/options.js";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Command, exitCodesOf } from "../../src/cli/command.js";
import { loadCommands } from "../../src/cli/command-list.js";
import type { StoredType } from "../../src/io/formats/column-types.js";
import { columns, schemaVersion } from "../../src/core/columns.js";
import { rowCodes } from "../../src/core/row-codes.js";
import { dialects } from "../../src/io/output/registry.js";
import { sqlType } from "../../src/io/output/sql/dialect.js";
import { optionSpecs } from "../../src/cli/options/settings.js";
import { optionRow } from "../helpers/option-table.js";
import { capitalised, table } from "../helpers/markdown.js";
import { runEndRows } from "../helpers/run-ends.js";
import { runRepute } from "../helpers/run-repute.js";
import { layers } from "../helpers/layers.js";
import { commandParts } from "./command-parts.js";
import { root } from "./pages.js";
import { terminalPicture } from "./terminal-picture.js";

/** The parts of pages that are made from the code, by the name in their marker. */
export async function generatedParts(): Promise<Readonly<Record<string, string>>> {
  const commands = await loadCommands();
  const { rows, foundColumn } = await theDemo();
  return {
    ...commandParts(commands),
    "schema-version": `These are the columns of schema version ${schemaVersion}.`,
    columns: table(
      ["Column", "Type", "Content"],
      columns.map(({ name, type, description }) => [`\`rep_${name}\``, type, description]),
    ),
    "row-codes": codeTable(),
    types: table(
      ["Type", "Parquet", ...dialects.map(({ name }) => databases[name as keyof typeof databases])],
      Object.entries(parquetTypes).map(([type, parquet]) =>
        [type, parquet].concat(
          dialects.map((dialect) => `\`${sqlType(dialect, type as StoredType)}\``),
        ),
      ),
    ),
    "exit-codes": table(
      ["Code", "Meaning"],
      exitCodesOf(commands.find(({ name }) => name === "enrich")!).map(([code, meaning]) => [
        code,
        capitalised(meaning),
      ]),
    ),
    "common-flags": commonFlags(commands),
    "run-ends": table(
      ["What happens", "Exit code", "`exit_reason`", "`resumable`", "`--resume`"],
      runEndRows(),
    ),
    "library-options": await optionsOf("ClientShape", schemas.client, commands),
    "file-options": await optionsOf("FileShape", schemas.file, commands),
    layers: table(
      ["Folder", "Content", "Imports"],
      Object.entries(layers)
        .filter(([name]) => existsSync(join(root, "src", name)))
        .map(([name, { content, imports }]) => [
          `\`src/${name}\``,
          content,
          imports.join(", ") || "nothing of ours",
        ]),
    ),
    "demo-rows": output(rows),
    "found-column": output(foundColumn),
  };
}

/** The most used flags of enrich. */
const common =
  "from itemColumn header output to lookups cache rate intelUrl apiKeyFile local resume quiet config";

function commonFlags(commands: readonly Command[]): string {
  const { options } = commands.find(({ name }) => name === "enrich")!;
  const rows = optionSpecs(options).filter(({ key }) => common.split(" ").includes(key));
  return table(
    ["Flag", "Meaning"],
    rows.map((spec) => [optionRow(spec)[0], spec.description]),
  );
}

/** Files that are made from the code as a whole, by their paths. */
export async function generatedFiles(): Promise<Readonly<Record<string, string>>> {
  const { run } = await theDemo();
  return { "docs/terminal.svg": terminalPicture(run) };
}

const databases = { postgres: "PostgreSQL", duckdb: "DuckDB", bigquery: "BigQuery" } as const;

/** Parquet's logical types; the tests that read the files compare with these. */
const parquetTypes = {
  text: "string",
  boolean: "boolean",
  count: "64-bit integer",
  number: "double",
  timestamp: "timestamp, microseconds, UTC",
  json: "JSON text",
  "text[]": "list of strings",
  integer: "64-bit integer",
  "decimal(18,4)": "decimal, up to 38 digits",
  numeric: "string",
  float: "float",
  date: "date",
  timestamp_local: "timestamp, microseconds, local",
  timestamp_ns: "timestamp, nanoseconds, UTC",
  timestamp_ns_local: "timestamp, nanoseconds, local",
  uuid: "UUID",
} as const satisfies Partial<Record<StoredType, string>>;

/**
 * The options of a schema of the library: those that are flags of enrich by name, the others as the
 * doc comments of their class describe them.
 */
async function optionsOf(
  name: string,
  { shape }: Pick<z.ZodObject, "shape">,
  commands: readonly Command[],
): Promise<string> {
  const source = await readFile(join(root, "src", "library", "options.ts"), "utf8");
  const [, body = ""] = new RegExp(`class ${name} \\{\n([^]*?)\n\\}`).exec(source) ?? [];
  const { options } = commands.find(({ name }) => name === "enrich")!;
  const flags = new Set(optionSpecs(options).map(({ key }) => key));
  const members = [...body.matchAll(/\/\*\*([^]*?)\*\/\s+readonly (\w+) =/g)].map(
    ([, comment = "", member = ""]) => ({ comment, member }),
  );
  const rows = members.filter(({ member }) => !flags.has(member)).map(libraryOption);
  const alike = Object.keys(shape).filter((key) => flags.has(key));
  const head = ["Option", "Description", "Default"];
  return `${table(head, rows)}\n\nAs the flags of \`repute enrich\` with these names: ${alike.map((key) => `\`${key}\``).join(", ")}.`;
}

function libraryOption({ comment, member }: Readonly<Record<"comment" | "member", string>>) {
  const text = comment
    .replaceAll(/\s*\n\s*\*/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  const [, description = "", fallback = ""] =
    /^(.*?)\s*(?:@default (.*)|Default: (.*?)\.?)?$/.exec(text) ?? [];
  return [`\`${member}\``, description, fallback];
}

/** The codes of rows. Neighbours with the same remedy share a row. */
function codeTable(): string {
  const rows: [code: string, meaning: string, remedy: string, retried: string][] = [];
  for (const [code, [meaning, remedy, retried = ""]] of Object.entries(rowCodes)) {
    const often = retried.replace(/up to (\S+) times/, "$1");
    const row = [`\`${code}\``, sentence(meaning), sentence(remedy), often] as const;
    const last = rows.at(-1);
    if (last?.[2] === row[2] && last[3] === often) {
      last[0] += `<br>${row[0]}`;
      last[1] += `<br>${row[1]}`;
    } else {
      rows.push([...row]);
    }
  }
  return table(["Code", "Meaning", "What to do", "Retried"], rows);
}

function sentence(text: string): string {
  const marked = text.replaceAll(/(?<![`-])--[a-z][a-z-]*/g, "`$&`");
  return `${capitalised(marked)}.`;
}

function output(text: string): string {
  return `\`\`\`text\n${text}\`\`\``;
}

const shownColumns = [
  ["indicator", 42],
  ["rep_kind", 13],
  ["rep_status", 11],
  ["rep_verdict", 11],
  ["rep_tags", 40],
] as const;

let demo: ReturnType<typeof demoIn> | null = null;

/** Runs the program on the sample once, in a folder as a new user has it. */
function theDemo() {
  return (demo ??= runDemo());
}

async function runDemo() {
  const cwd = await mkdtemp(join(tmpdir(), "repute-demo-"));
  try {
    return await demoIn(cwd);
  } finally {
    await rm(cwd, { recursive: true });
  }
}

/**
 * The run as a terminal shows it, some columns of its first rows, and what a run says that finds the
 * item column by itself.
 */
async function demoIn(cwd: string) {
  await symlink(join(root, "samples"), join(cwd, "samples"));
  const args = ["enrich", "samples/indicators.csv", "-o", "enriched.csv", "--local"];
  const { code, stdout, stderr } = await runRepute(args, { cwd });
  if (code !== 0) throw new Error(`the demo ended with ${code}: ${stderr}`);
  // How long it took is not the same twice.
  const run = `$ repute ${args.join(" ")}\n${stderr}${stdout}`.replace(
    / in [\d.]+ m?s(?: \([\d,.]+ rows\/s\))?/,
    " in 0.3 s",
  );
  const written = await readFile(join(cwd, "enriched.csv"), "utf8");
  const rows: Readonly<Record<string, string>>[] = parse(written, { columns: true });
  const lines = rows
    .slice(0, 9)
    .map((row) => shownColumns.map(([name, width]) => cut(row[name] ?? "", width)).join("  "));
  const header = shownColumns.map(([name, width]) => name.padEnd(width)).join("  ");
  const report = ["enrich", "samples/publishers/report.csv", "-o", "report.csv", "--local"];
  const [foundColumn = ""] = (await runRepute(report, { cwd })).stderr.match(/^.*\n/) ?? [];
  return {
    run,
    rows: [header, ...lines].map((line) => `${line.trimEnd()}\n`).join(""),
    foundColumn,
  };
}

function cut(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text.padEnd(width);
}
