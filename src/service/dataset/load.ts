import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../../core/errors.js";
import {
  assemble,
  type DatasetPart,
  invalid,
  type Placed,
  recordFiles,
  type Dataset,
} from "./dataset.js";

const tagIpsFolder = "tag-ips";

/**
 * Loads and validates a dataset folder. Every file is optional, but an unknown one is an error,
 * since its name is probably misspelt.
 *
 * @throws UsageError `dataset_not_found`, or `dataset_invalid`, naming file and line of the first
 *   fault
 */
export async function loadDataset(folder: string): Promise<Dataset> {
  const known = new Set<string>(Object.values(recordFiles));
  for (const name of await namesIn(folder)) {
    if (!name.endsWith(".ndjson") || known.has(name)) continue;
    throw invalid(
      join(folder, name),
      `not a file of a dataset; known files are ${[...known].join(", ")}`,
    );
  }
  const entries = Object.entries(recordFiles).map(
    async ([part, name]) => [part, await records(join(folder, name))] as const,
  );
  const parts = Object.fromEntries(await Promise.all(entries)) as Record<DatasetPart, Placed[]>;
  const files = await tagIpsFiles(join(folder, tagIpsFolder));
  const dataset = assemble({ ...parts, tagIps: (tag) => files.get(tagIpsName(tag)) ?? null });
  const names = new Set([...dataset.tags.keys()].map(tagIpsName));
  for (const [name, { where }] of files) {
    if (!names.has(name)) throw invalid(where, "belongs to no tag in tags.ndjson");
  }
  return dataset;
}

/** Name of the file in `tag-ips/` with a tag's addresses: `<group>--<name>.txt`. */
export function tagIpsName(tag: string): string {
  return `${tag.split(":").map(encodeURIComponent).join("--")}.txt`;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    throw new UsageError("dataset_not_found", `cannot read the dataset folder ${folder}`, {
      cause: error,
      hint: "name a folder laid out as in samples/dataset/README.md",
    });
  }
}

async function records(path: string): Promise<Placed[]> {
  const text = await orAbsent(path, "", () => readFile(path, "utf8"));
  const lines = text.replace(/^\uFEFF/, "").split("\n");
  return lines.flatMap((line, index) => {
    const where = `${path}:${index + 1}`;
    return line.trim() === "" ? [] : [{ value: parsedLine(line, where), where }];
  });
}

function parsedLine(line: string, where: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw invalid(where, `not valid JSON: ${(error as Error).message}`);
  }
}

/** Reads a file or folder, and returns `absent` if it does not exist. */
async function orAbsent<T>(where: string, absent: T, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return absent;
    throw invalid(where, `cannot be read: ${(error as Error).message}`);
  }
}

async function tagIpsFiles(folder: string): Promise<Map<string, Placed<string>>> {
  const names = await orAbsent(folder, [], () => readdir(folder));
  const files = new Map<string, Placed<string>>();
  for (const name of names.filter((name) => name.endsWith(".txt")).sort()) {
    const where = join(folder, name);
    files.set(name, { value: await orAbsent(where, "", () => readFile(where, "utf8")), where });
  }
  return files;
}
