import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { generatedFiles, generatedParts } from "./generated.js";
import { documentation, root } from "./pages.js";

// `npm run docs` writes what differs.

const marked = /^<!-- generated: ([\w-]+) -->\n[^]*?<!-- end -->/gm;

const pages = documentation();

let parts: Readonly<Record<string, string>>;

beforeAll(async () => {
  parts = await generatedParts();
});

const withParts = pages.filter(({ text }) => text.includes("<!-- generated: "));

test.each(withParts.map(({ path, text }) => [path, text] as const))(
  "%s says what the program does",
  async (path, text) => {
    const fresh = text.replaceAll(marked, (_, name: string) => {
      return `<!-- generated: ${name} -->\n${parts[name]}\n<!-- end -->`;
    });
    await expect(fresh).toMatchFileSnapshot(join(root, path));
  },
);

test("every generated part is on a page, and every marked place has its part", () => {
  const places = pages.flatMap(({ text }) => [...text.matchAll(marked)].map(([, name]) => name));
  expect(new Set(places)).toEqual(new Set(Object.keys(parts)));
  const markers = pages.flatMap(({ text }) => text.match(/^<!-- generated: /gm) ?? []);
  expect(places).toHaveLength(markers.length);
});

test("pictures show what the program prints", async () => {
  for (const [path, content] of Object.entries(await generatedFiles())) {
    await expect(content).toMatchFileSnapshot(join(root, path));
  }
});
