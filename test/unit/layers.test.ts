import { readdirSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { expect, it } from "vitest";
import { layers } from "../helpers/layers.js";

const source = resolve(import.meta.dirname, "../../src");

/** Program and library, which may import everything. */
const free = new Set(["cli", "library", "index.ts"]);

function layerOf(path: string): string {
  return path.split("/")[0] ?? path;
}

function violations(): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(source, { recursive: true, encoding: "utf8" })) {
    const file = entry.replaceAll("\\", "/");
    const layer = layerOf(file);
    if (!file.endsWith(".ts") || free.has(layer)) continue;
    const text = readFileSync(resolve(source, file), "utf8");
    for (const [, target = ""] of text.matchAll(/(?:from|import\()\s*"(\.[^"]+)\.js"/g)) {
      const imported = relative(source, resolve(source, dirname(file), `${target}.ts`));
      const allowed = [layer, ...(layers[layer]?.mayImport ?? [])];
      if (!allowed.includes(layerOf(imported))) found.push(`${file} imports ${imported}`);
    }
  }
  return found;
}

it("each layer imports only what it may", () => {
  expect(violations()).toEqual([]);
});
