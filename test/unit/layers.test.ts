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

function sources(): readonly (readonly [file: string, text: string])[] {
  return readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((entry) => entry.endsWith(".ts"))
    .map((entry) => [entry.replaceAll("\\", "/"), readFileSync(resolve(source, entry), "utf8")]);
}

function violations(): string[] {
  const found: string[] = [];
  for (const [file, text] of sources()) {
    const layer = layerOf(file);
    if (free.has(layer)) continue;
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

it("no two modules export different things under one name", () => {
  const exporters = new Map<string, string[]>();
  for (const [file, text] of sources()) {
    const names = text.matchAll(/^export (?:async |abstract )?(?:[a-z]+\*?) (\w+)/gm);
    for (const name of new Set([...names].map(([, name = ""]) => name))) {
      exporters.set(name, [...(exporters.get(name) ?? []), file]);
    }
  }
  expect([...exporters].filter(([, files]) => files.length > 1)).toEqual([]);
});
