import { readdirSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { expect, it } from "vitest";
import { layers } from "./helpers/layers.js";

const source = resolve(import.meta.dirname, "../src");

function layerOf(path: string): string {
  return path.split("/")[0] ?? path;
}

function sources(): readonly (readonly [file: string, text: string])[] {
  return readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((entry) => entry.endsWith(".ts"))
    .map((entry) => [entry.replaceAll("\\", "/"), readFileSync(resolve(source, entry), "utf8")]);
}

interface Import {
  readonly file: string;
  readonly imported: string;
}

/** All imports between files of `src`, those of types and dynamic ones included. */
const imports: readonly Import[] = sources().flatMap(([file, text]) =>
  [...text.matchAll(/(?:from|import\()\s*"(\.[^"]+)\.js"/g)].map(([, target = ""]) => ({
    file,
    imported: relative(source, resolve(source, dirname(file), `${target}.ts`)).replaceAll(
      "\\",
      "/",
    ),
  })),
);

it("each room imports exactly the rooms that it names", () => {
  const rooms = Object.keys(layers).map((room) => {
    const targets = imports
      .filter(({ file }) => layerOf(file) === room)
      .map(({ imported }) => layerOf(imported));
    return [room, [...new Set(targets)].filter((target) => target !== room).toSorted()] as const;
  });
  expect(rooms).toEqual(Object.entries(layers).map(([room, { imports: named }]) => [room, named]));
  expect(new Set(sources().map(([file]) => layerOf(file)))).toEqual(
    new Set([...Object.keys(layers), "index.ts"]),
  );
});

/** Groups of nodes of which each imports the others, directly or through others of the group. */
function circles(nodeOf: (file: string) => string): readonly string[] {
  const targets = new Map<string, Set<string>>();
  for (const { file, imported } of imports) {
    const from = nodeOf(file);
    if (from === nodeOf(imported)) continue;
    targets.set(from, (targets.get(from) ?? new Set()).add(nodeOf(imported)));
  }
  const reached = new Map(Array.from(targets.keys(), (node) => [node, reachable(node, targets)]));
  const found = Array.from(reached, ([node, all]) =>
    [...all].filter((other) => reached.get(other)?.has(node)).toSorted(),
  );
  return [
    ...new Set(found.filter((circle) => circle.length > 1).map((circle) => circle.join(" ⇄ "))),
  ];
}

function reachable(start: string, targets: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const seen = new Set<string>();
  const open = [start];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const next of targets.get(node) ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(next);
    }
  }
  return seen;
}

it("no file imports itself through others", () => {
  expect(circles((file) => file)).toEqual([]);
});

it("no subfolder imports itself through other subfolders or files", () => {
  const isDeep = (file: string): boolean => file.split("/").length > 3;
  expect(circles((file) => (isDeep(file) ? dirname(file) : file))).toEqual([]);
});

it("no folder of a room imports itself through its neighbours", () => {
  expect(circles((file) => file.split("/").slice(0, 2).join("/"))).toEqual([]);
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
