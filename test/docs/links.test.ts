import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { documentation, type Page, readPage, root } from "./pages.js";

const pages = [
  ...documentation(),
  ...["samples/dataset/README.md"].filter((path) => existsSync(join(root, path))).map(readPage),
];

interface Link {
  readonly page: Page;
  readonly target: string;
}

const links: readonly Link[] = pages.flatMap((page) =>
  [...page.prose.replaceAll(/(`+).+?\1/g, "").matchAll(/\]\(<?([^)\s>]+)>?\)/g)].map(
    ([, target = ""]) => ({ page, target }),
  ),
);

const { files: packed } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly files: readonly string[];
};

/** What npm puts in the package: what `files` names, and what it always takes. */
const shipped = ["README.md", "LICENSE", "package.json", ...packed];

test("there are links to check", () => {
  expect(links.length).toBeGreaterThan(50);
});

test("every relative link leads to a file that the package has", () => {
  const broken = links
    .filter(({ target }) => !isAddress(target) && !target.startsWith("#"))
    .filter(({ page, target }) => {
      const path = relative(root, join(root, dirname(page.path), pathOf(target)));
      return !existsSync(join(root, path)) || !shipped.some((name) => isWithin(path, name));
    })
    .map(shown);
  expect(broken).toEqual([]);
});

test("every anchor is a heading of its page", () => {
  const broken = links
    .filter(({ target }) => !isAddress(target) && target.includes("#"))
    .filter(({ page, target }) => {
      const [path = "", anchor = ""] = target.split("#");
      const file = path === "" ? page.path : join(dirname(page.path), path);
      return !existsSync(join(root, file)) || !anchorsOf(file).has(anchor);
    })
    .map(shown);
  expect(broken).toEqual([]);
});

test("every other link is an https address", () => {
  const odd = links.filter(
    ({ target }) => isAddress(target) && !/^https:\/\/[\w.-]+\//.test(target),
  );
  expect(odd.map(shown)).toEqual([]);
});

test("every page of docs/ is reached from README.md", () => {
  const reached = new Set<string>();
  const visit = (path: string): void => {
    if (reached.has(path)) return;
    reached.add(path);
    for (const { page, target } of links) {
      if (page.path !== path || isAddress(target) || target.startsWith("#")) continue;
      const next = join(dirname(path), pathOf(target));
      if (next.endsWith(".md")) visit(next);
    }
  };
  visit("README.md");
  expect(pages.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([]);
});

function isAddress(target: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(target);
}

function pathOf(target: string): string {
  return decodeURIComponent(target.split("#")[0] ?? "");
}

function isWithin(path: string, name: string): boolean {
  if (path === name) return true;
  const folder = join(root, name);
  return existsSync(folder) && statSync(folder).isDirectory() && path.startsWith(`${name}/`);
}

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(path: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of readPage(path).prose.matchAll(/^#{1,6} (.+)$/gm)) {
    const base = heading
      .trim()
      .toLowerCase()
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-");
    let anchor = base;
    for (let n = 1; anchors.has(anchor); n++) anchor = `${base}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}

function shown({ page, target }: Link): string {
  return `${page.path}: ${target}`;
}
