import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { hasRunWords, wordForms } from "../../../core/files/output-names.js";
import { manifestPlace, storedManifest } from "../../../io/output/manifest-file.js";
import type { Output } from "../../../io/output/output.js";
import { parseOutput } from "../../../io/output/registry.js";

/**
 * The outputs of one pattern that are earlier than one of them, the newest first: by their date, then by
 * the identifier of their run, since those of later runs sort later.
 *
 * @param pattern the output with `{date}` or `{run_id}`
 * @param own one of its outputs
 */
export async function previousOutputs(pattern: Output, own: Output): Promise<readonly Output[]> {
  const { folder, name } = placeOf(pattern);
  const { before, after } = pattern.parts;
  const keyOf = keysOf(name);
  const now = keyOf(own.parts.file.slice(folder.length));
  const found = new Map<string, string>();
  for (const each of await namesLike(pattern)) {
    const key = keyOf(each);
    if (key !== null && now !== null && key < now) found.set(key, before + folder + each + after);
  }
  const newest = [...found].toSorted(([a], [b]) => (a < b ? 1 : -1));
  return newest.map(([, output]) => parseOutput(output));
}

/** The pattern of an output that is named after its run; null for any other. */
export function patternOf(output: Output): Output | null {
  const { folder, name } = placeOf(output);
  const { before, after } = output.parts;
  const named = withWords(name);
  // Folders tell only where the file does not.
  const file = hasRunWords(named) ? folder + named : withWords(folder) + name;
  return hasRunWords(file) ? parseOutput(before + file + after) : null;
}

function withWords(name: string): string {
  return Object.entries(wordForms).reduce(
    (text, [word, form]) => text.replaceAll(new RegExp(`(?<!\\w)${form}(?!\\w)`, "gi"), word),
    name,
  );
}

/** Why an output cannot be compared with; null if it can. */
export async function faultOf(output: Output, stateDir?: string): Promise<string | null> {
  const manifest = await storedManifest(manifestPlace(output, stateDir));
  if (manifest === null) return "it has no manifest that can be read";
  const { file, object } = output;
  const bytes = manifest.output?.bytes;
  // Objects appear as a whole, and a table has no file.
  if (object !== null || file === null || typeof bytes !== "number") return null;
  const facts = await stat(file).catch(() => null);
  if (facts === null) return `${file} is missing`;
  return facts.size === bytes ? null : `${file} has ${facts.size} bytes instead of ${bytes}`;
}

/** The folder in which files may be of a pattern, and their name in it; keys have no folder. */
function placeOf({ parts: { file }, object }: Output) {
  const [folder = ""] = object === null ? (/^(?:[^{]*\/)?/.exec(file) ?? []) : [];
  return { folder, name: file.slice(folder.length) };
}

/** Names that may be of the pattern: files or keys. */
async function namesLike(pattern: Output): Promise<readonly string[]> {
  const { folder, name } = placeOf(pattern);
  if (pattern.object !== null) {
    const [prefix = ""] = name.split("{", 1);
    const { listObjects } = await import("../../../io/s3/objects.js");
    return (await listObjects(pattern.parts.before + prefix)).map((key) => prefix + key);
  }
  const steps = name.split("/");
  let found = [""];
  for (const [depth, step] of steps.entries()) {
    const isFolder = depth < steps.length - 1;
    const fits = keysOf(step);
    const next: string[] = [];
    for (const path of found) {
      for (const entry of await entriesOf(join(folder || ".", path))) {
        const isOne = entry.isDirectory() === isFolder && fits(entry.name) !== null;
        if (isOne) next.push(`${path}${entry.name}${isFolder ? "/" : ""}`);
      }
    }
    found = next;
  }
  return found;
}

/** What a folder holds; nothing if there is no such folder. */
async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Sorts names of a pattern: gives the date and run ID in them, or null for any other name. */
function keysOf(pattern: string): (name: string) => string | null {
  const seen = new Set<string>();
  const form = pattern
    .split(/(\{[a-z_]+\})/)
    .map((text) => {
      const found = wordForms[text];
      if (found === undefined) return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
      const group = text.slice(1, -1);
      if (seen.has(group)) return String.raw`\k<${group}>`;
      seen.add(group);
      return `(?<${group}>${found})`;
    })
    .join("");
  const whole = new RegExp(`^${form}$`);
  return (name) => {
    const found = whole.exec(name);
    // A folder or file without these words has no groups.
    return found && `${found.groups?.["date"] ?? ""} ${found.groups?.["run_id"] ?? ""}`;
  };
}
