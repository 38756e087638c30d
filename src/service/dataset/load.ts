import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../../core/errors.js";
import { assemble } from "./assemble.js";
import type { Dataset } from "./dataset.js";
import { invalid, type Placed } from "./placed.js";

const recordFiles = {
  items: "items.ndjson",
  tags: "tags.ndjson",
  customers: "customers.ndjson",
  cases: "cases.ndjson",
  contexts: "contexts.ndjson",
  webhooks: "webhooks.ndjson",
  transitions: "transitions.ndjson",
} as const;

const tagIpsFolder = "tag-ips";

/**
 * Reads a dataset folder and checks it whole. Every file is optional; one that no dataset has is a
 * fault, because it is likely a misspelt name.
 *
 * @throws UsageError `dataset_not_found`, or `dataset_invalid` that names file and line of the first fault
 */
export async function loadDataset(folder: string): Promise<Dataset> {
  const known = new Set<string>(Object.values(recordFiles));
  for (const name of await namesIn(folder)) {
    if (!name.endsWith(".ndjson") || known.has(name)) continue;
    throw invalid({ where: join(folder, name) }, `a dataset consists of ${[...known].join(", ")}`);
  }
  const entries = Object.entries(recordFiles).map(
    async ([part, name]) => [part, await records(join(folder, name))] as const,
  );
  const parts = Object.fromEntries(await Promise.all(entries)) as Record<
    keyof typeof recordFiles,
    Placed[]
  >;
  const files = await tagIpsFiles(join(folder, tagIpsFolder));
  const dataset = assemble({ ...parts, tagIps: (tag) => files.get(tagIpsName(tag)) ?? null });
  const names = new Set([...dataset.tags.keys()].map(tagIpsName));
  for (const [name, { where }] of files) {
    if (!names.has(name)) throw invalid({ where }, "belongs to no tag of tags.ndjson");
  }
  return dataset;
}

/** The file in `tag-ips/` that holds the addresses of a tag, `<group>--<name>.txt`. */
export function tagIpsName(tag: string): string {
  return `${tag.split(":").map(encodeURIComponent).join("--")}.txt`;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    throw new UsageError("dataset_not_found", `The dataset folder ${folder} cannot be read.`, {
      cause: error,
      hint: "Give a folder laid out as samples/dataset/README.md tells.",
    });
  }
}

async function records(path: string): Promise<Placed[]> {
  const text = await textOf(path);
  const found: Placed[] = [];
  for (const [index, line] of text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .entries()) {
    if (line.trim() === "") continue;
    const where = `${path}:${index + 1}`;
    found.push({ value: parsedLine(line, where), where });
  }
  return found;
}

function parsedLine(line: string, where: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw invalid({ where }, `is no JSON: ${(error as Error).message}`);
  }
}

/** The file's text; "" where there is no such file. */
async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw invalid({ where: path }, `cannot be read: ${(error as Error).message}`);
  }
}

async function tagIpsFiles(folder: string): Promise<Map<string, Placed<string>>> {
  const files = new Map<string, Placed<string>>();
  try {
    const names = await readdir(folder);
    for (const name of names.filter((name) => name.endsWith(".txt")).sort()) {
      const where = join(folder, name);
      files.set(name, { value: await readFile(where, "utf8"), where });
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return files;
    throw invalid({ where: folder }, `cannot be read: ${(error as Error).message}`);
  }
  return files;
}
