import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, describe, expect, test } from "vitest";
import { parse as parseYaml } from "yaml";
import { type CodeBlock, documentation, type Page, reasonNotToRun } from "./pages.js";
import { ShellSession } from "./shell-session.js";
import { runTypeScript } from "./typescript-blocks.js";

const pages = documentation();
const blocks = pages.flatMap((page) => page.blocks);
const runBlocks = blocks.filter((block) => reasonNotToRun(block) === null);

const session = await ShellSession.open();
afterAll(() => session.close());

/** Languages whose blocks are checked below; `text` is output, and generated. */
const checked = new Set("sh crontab ts js sql json yaml text".split(" "));

test("every block of code names a language that is checked, or a reason why it is not run", () => {
  const odd = runBlocks.filter(({ language }) => !checked.has(language));
  expect(odd.map(place)).toEqual([]);
});

test("a reason not to run a block is a sentence", () => {
  const reasons = blocks.map(reasonNotToRun).filter((reason) => reason !== null);
  expect(reasons.filter((reason) => reason.split(" ").length < 3)).toEqual([]);
});

test("what a page shows as output or rows is generated", () => {
  const shown = runBlocks.filter(({ language }) => language === "text");
  const byHand = shown.filter(({ comment }) => !comment?.startsWith("generated: "));
  expect(byHand.map(place)).toEqual([]);
});

describe("commands run as typed", () => {
  const withCommands = pages.filter((page) => commandsOf(page).length > 0);

  test.each(withCommands.map((page) => [page.path, page] as const))("%s", async (path, page) => {
    const folder = await session.folder(path.replaceAll("/", "-"));
    for (const { text, line } of commandsOf(page)) {
      const failure = await session.run(text, folder, path === "README.md" ? {} : services);
      expect([`${path}:${line}`, failure]).toEqual([`${path}:${line}`, null]);
    }
  });
});

test("programs pass the type checker and run", { timeout: 120_000 }, async () => {
  const programs = inLanguage("ts", "js").map((block) =>
    withText(block, session.placed(block.text)),
  );
  const folder = await session.folder("programs");
  expect(await runTypeScript(programs, { folder, intelUrl: `${session.origin}/beta` })).toEqual([]);
});

const database = await (await DuckDBInstance.create(":memory:")).connect();
afterAll(() => database.closeSync());

/** Parsers; SQL is taken by that of a database. */
const readers: Readonly<Record<string, (text: string) => unknown>> = {
  json: (text) => JSON.parse(text) as unknown,
  yaml: (text) => parseYaml(text) as unknown,
  sql: (text) => database.extractStatements(text),
};

test.each(Object.entries(readers))("%s can be read", async (language, read) => {
  const failures: string[] = [];
  for (const block of inLanguage(language)) {
    try {
      expect(typeof (await read(block.text))).toBe("object");
    } catch (error) {
      failures.push(`${place(block)} ${String(error)}`);
    }
  }
  expect(failures).toEqual([]);
});

/** What every page but the README takes as given; the rate saves time. */
const services = {
  REPUTE_INTEL_URL: "http://127.0.0.1:8080/beta",
  REPUTE_OPS_URL: "http://127.0.0.1:8080",
  REPUTE_ACCESS_TOKEN: "sample-access-token",
  REPUTE_CASE_URL: "http://127.0.0.1:8080",
  REPUTE_CASE_API_KEY: "sample-case-api-key",
  REPUTE_RATE: "999/s",
};

function inLanguage(...languages: readonly string[]): readonly CodeBlock[] {
  return runBlocks.filter(({ language }) => languages.includes(language));
}

/** A page's commands: blocks for a shell, and the commands of a crontab. */
function commandsOf({ blocks }: Page): readonly CodeBlock[] {
  return blocks
    .filter((block) => reasonNotToRun(block) === null)
    .filter(({ language }) => language === "sh" || language === "crontab")
    .map((block) => (block.language === "sh" ? block : withText(block, cronCommands(block))));
}

/** Variables and commands of a crontab as a script: `5 2 * * *` and its like are cut off. */
function cronCommands({ text }: CodeBlock): string {
  const lines = text.split("\n").map((line) => {
    if (/^\w+=/.test(line)) return `export ${line}`;
    // Full paths, as cron needs them, stand for this folder and for repute itself.
    const here = line.replaceAll("/usr/local/bin/", "").replaceAll("/var/lib/repute/", "");
    return here.replace(/^(?:[\d*,/-]+ +){5}|^@\w+ +/, "");
  });
  return lines.join("\n");
}

function withText(block: CodeBlock, text: string): CodeBlock {
  return { ...block, text };
}

function place({ page, line, language }: CodeBlock): string {
  return `${page}:${line} ${language}`;
}
