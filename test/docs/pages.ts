import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's folder. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** A fenced block of code. */
export interface CodeBlock {
  readonly page: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
  /** Word after the fence; "" where there is none. */
  readonly language: string;
  readonly text: string;
  /** The comment right above the fence, without its marks; null where there is none. */
  readonly comment: string | null;
}

/** A page of the documentation. */
export interface Page {
  /** Path from the repository's folder, e.g. `docs/privacy.md`. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly CodeBlock[];
  /** The text without blocks of code and comments. */
  readonly prose: string;
}

/** README.md, every page of `docs/`, and the skill for assistants. */
export function documentation(): readonly Page[] {
  const names = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
  const pages = names.toSorted().map((name) => `docs/${name}`);
  return ["README.md", ...pages, "samples/assistants/SKILL.md"].map(readPage);
}

export function readPage(path: string): Page {
  const text = readFileSync(join(root, path), "utf8");
  const blocks: CodeBlock[] = [];
  const prose: string[] = [];
  let open: { line: number; language: string; comment: string | null; lines: string[] } | null =
    null;
  let comment: string | null = null;
  for (const [index, line] of text.split("\n").entries()) {
    const fence = /^```(\S*)/.exec(line);
    if (open === null && fence !== null) {
      open = { line: index + 1, language: fence[1] ?? "", comment, lines: [] };
    } else if (open === null) {
      comment = /^<!-- (.*) -->$/.exec(line)?.[1] ?? null;
      prose.push(comment === null ? line : "");
    } else if (fence === null) {
      open.lines.push(line);
    } else {
      const { lines, ...block } = open;
      blocks.push({ page: path, ...block, text: `${lines.join("\n")}\n` });
      open = null;
      comment = null;
    }
  }
  if (open !== null) throw new Error(`${path}:${open.line}: the block of code is not closed`);
  return { path, text, blocks, prose: prose.join("\n") };
}

/** Why a block is not run, from `<!-- not run: REASON -->` above it; null where it is. */
export function reasonNotToRun({ comment }: CodeBlock): string | null {
  return comment?.startsWith("not run: ") ? comment.slice("not run: ".length) : null;
}

/** The contents of code spans outside blocks of code. */
export function codeSpans({ prose }: Page): readonly string[] {
  return [...prose.matchAll(/(`+)(.+?)\1(?!`)/g)].map(([, , span = ""]) => span.trim());
}
