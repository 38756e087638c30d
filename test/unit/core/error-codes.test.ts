import { readdirSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type CodeEntry, type ErrorCode, errorAreas } from "../../../src/core/error-codes.js";
import { UsageError } from "../../../src/core/errors.js";

const root = join(import.meta.dirname, "../../..");
const entries = Object.values(errorAreas).flatMap((area) => Object.entries<CodeEntry>(area));
const registered = new Set(entries.map(([code]) => code));

/** Source text outside the registry. */
const source = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts") && !path.startsWith(join("core", "error-codes")))
  .map((path) => readFileSync(join(root, "src", path), "utf8"))
  .join("\n");

/** Places that take a code, each with the code or template written there. */
const places = [
  /new \w*Error\(\s*["`]([a-z$][\w${}]*)["`],/g,
  /\bcode: ["`]([a-z$][\w${}]*)["`]/g,
  /\b(?:errorAt|warningAt)\(\s*(?:"[^"]*"|\w+),\s*"(\w+)"/g,
];

/** Codes of zod's issues, which are not errors of repute. */
const zodCodes = new Set(["custom"]);

/** Matches the codes that a template such as `http_${status}` can make. */
function pattern(template: string): RegExp {
  return new RegExp(`^${template.replaceAll(/\$\{\w+\}/g, "\\w+")}$`);
}

it("registers every code that src uses", () => {
  const used = places
    .flatMap((place) => [...source.matchAll(place)].map(([, code = ""]) => code))
    .filter((code) => !zodCodes.has(code));
  const isRegistered = (code: string) => [...registered].some((known) => pattern(code).test(known));
  expect(new Set(used).size).toBeGreaterThan(100);
  expect(used.filter((code) => !isRegistered(code))).toEqual([]);
});

it("registers no code that src does not use", () => {
  const templates = [...source.matchAll(/`(\w*\$\{\w+\}\w*)`/g)]
    .map(([, template = ""]) => template)
    .filter((template) => /^\w+_|_\w+$/.test(template.replaceAll(/\$\{\w+\}/g, "")))
    .map(pattern);
  const isUsed = (code: string) =>
    source.includes(`"${code}"`) || templates.some((template) => template.test(code));
  expect([...registered].filter((code) => !isUsed(code))).toEqual([]);
});

it("registers each code in one area", () => {
  expect(entries).toHaveLength(registered.size);
});

it("rejects an unregistered code at compile time", () => {
  const status: ErrorCode = "http_404";
  // @ts-expect-error a code without an entry
  const unknown: ErrorCode = "no_such_code";
  expect([new UsageError(status, "").code, unknown]).toEqual(["http_404", "no_such_code"]);
});

it("has an up-to-date page (UPDATE_DOCS=1 writes it)", async () => {
  const page = join(root, "docs/errors.md");
  if (process.env["UPDATE_DOCS"] === "1") await writeFile(page, errorsPage());
  expect(await readFile(page, "utf8")).toBe(errorsPage());
});

function errorsPage(): string {
  const sections = Object.entries(errorAreas).map(([title, area]) =>
    [
      `## ${title}`,
      "",
      "| Code | Meaning | What to do | Retried |",
      "|---|---|---|---|",
      ...Object.entries<CodeEntry>(area).map(
        ([code, [meaning, remedy, retried]]) =>
          `| \`${code}\` | ${sentence(meaning)} | ${sentence(remedy)} | ${retried ?? "no"} |`,
      ),
    ].join("\n"),
  );
  return `${[introduction, ...sections].join("\n\n")}\n`;
}

const introduction = `# Errors

Every error has a stable code. Compare the code, never the message: messages may be reworded.

- A row without a full answer carries its code in \`rep_error_code\` and its message in \`rep_error\`. Such a
  row never ends the run. \`repute retry OUT\` asks again for the failed ones.
- Errors that end a command print a message and a hint to stderr and set the
  exit code. In the library they are thrown, with \`code\`, \`message\` and \`hint\`.

*Retried* says how repute tries again on its own before it reports the code.`;

function sentence(text: string): string {
  const marked = text.replaceAll(/(?<![`-])--[a-z][a-z-]*/g, "`$&`").replaceAll("|", "\\|");
  return `${marked.charAt(0).toUpperCase()}${marked.slice(1)}.`;
}
