import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { commandNames, groups, loadCommands } from "../../src/cli/command-list.js";
import { optionSpecs, writtenFlag } from "../../src/cli/options/settings.js";
import { secrets } from "../../src/cli/options/secrets.js";
import { columns } from "../../src/core/columns.js";
import { codeSpans, documentation, type Page, root } from "./pages.js";

const pages = documentation();

/** Flags of repute and of the benchmarks; the registry of errors writes --flag for any of them. */
const flags = new Set(["help", "version", "h", "v", "V", "rows", "flag"]);
const variables = new Set<string>(Object.values(secrets).map((each) => each.variable));

beforeAll(async () => {
  for (const { options } of await loadCommands()) {
    for (const spec of optionSpecs(options)) {
      for (const name of [spec.flag, `no-${spec.flag}`, spec.alias ?? spec.flag]) flags.add(name);
      variables.add(spec.variable);
    }
  }
});

/** Spans of a page that a pattern matches and that are not allowed. */
function odd(pattern: RegExp, allowed: (match: string) => boolean): readonly string[] {
  return pages.flatMap((page) =>
    textsOf(page).flatMap((text) =>
      [...text.matchAll(pattern)]
        .map(([whole, name = whole]) => name)
        .filter((name) => !allowed(name))
        .map((name) => `${page.path}: ${name}`),
    ),
  );
}

/** Code spans, and blocks of commands. */
function textsOf(page: Page): readonly string[] {
  const blocks = page.blocks.filter(({ language }) => language === "sh" || language === "crontab");
  return [...codeSpans(page), ...blocks.map(({ text }) => text)];
}

test("every flag of repute that a page names exists", () => {
  const ofRepute = /(?:^|^.*\brepute\b[^|;&\n]* )--?([a-z](?:-?[a-z])*)(?![a-z…-])/gim;
  expect(odd(ofRepute, (name) => flags.has(name))).toEqual([]);
});

test("the page on commands has every flag of every command, and no other", async () => {
  const { text = "" } = pages.find(({ path }) => path === "docs/commands.md") ?? {};
  const [, shared = ""] = /\n## Flags of several commands\n(.*?)\n## /s.exec(text) ?? [];
  const rowsOf = (part: string): readonly string[] =>
    [...part.matchAll(/^\| (?:`-\w`, )?`(--[\w-]+)/gm)].map(([, flag = ""]) => flag);
  const described = rowsOf(shared);
  expect(new Set(described).size).toBe(described.length);
  const sections = new Map(
    shared.split(/^\| \*\*/m).map((part) => [part.split("**")[0] ?? "", rowsOf(part)]),
  );
  const taken = new Set<string>();
  for (const { name, options } of await loadCommands()) {
    const [, part = ""] = new RegExp(`\n### repute ${name}\n(.*?)(?:\n##|$)`, "s").exec(text) ?? [];
    const [line = ""] = /Shared flags: .*$/m.exec(part) ?? [];
    const whole = [...line.matchAll(/\*\*(.*?)\*\*/g)].map(([, title = ""]) => title);
    const others = [
      ...whole.flatMap((title) => sections.get(title) ?? [title]),
      ...(line.match(/(?<=`)--[\w-]+(?=`)/g) ?? []),
    ];
    const specs = optionSpecs(options).map((spec) => writtenFlag(spec).split(" ")[0] ?? "");
    expect([...rowsOf(part), ...others].toSorted(), name).toEqual(specs.toSorted());
    for (const flag of others) taken.add(flag);
  }
  expect([...taken].toSorted()).toEqual(described.toSorted());
});

test("every command that a page names exists", () => {
  const known = ["help", "version", ...commandNames, ...groups.map(({ name }) => name)];
  const named = /(?:^|\| )repute ([a-z][a-z-]*(?: [a-z]+)?)/gm;
  const exists = (words: string): boolean =>
    known.some((name) => words === name || words.split(" ")[0] === name);
  expect(odd(named, exists)).toEqual([]);
});

test("every column that a page names exists", () => {
  const known = new Set(
    ["run_id", "row", "loaded_at", "file", "column", "query", "quick_check"].concat(
      columns.map(({ name }) => name),
    ),
  );
  expect(odd(/\brep_([a-z_]+)/g, (name) => known.has(name))).toEqual([]);
});

test("every variable that a page names exists", () => {
  expect(odd(/\bREPUTE_[A-Z_]+\b/g, (name) => variables.has(name))).toEqual([]);
});

test("every file of the repository that a page names exists", () => {
  const paths = /^((?:src|test|samples|docs|\.ci)\/[\w./-]*)$/g;
  const exists = (path: string): boolean => existsSync(join(root, path)) || path.includes("NAME");
  expect(odd(paths, exists)).toEqual([]);
});

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly dependencies: object;
  readonly optionalDependencies?: object;
  readonly peerDependencies: object;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
};

test("the page on architecture names every dependency", () => {
  const page = pages.find(({ path }) => path === "docs/architecture.md")!;
  const all = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
  expect(codeSpans(page)).toEqual(expect.arrayContaining(all));
});

test("npm installs no driver unasked: every peer dependency is optional", () => {
  for (const name of Object.keys(manifest.peerDependencies)) {
    expect(manifest.peerDependenciesMeta[name], name).toMatchObject({ optional: true });
  }
});
