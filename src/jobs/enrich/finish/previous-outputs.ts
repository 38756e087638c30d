import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { manifestPath, hasRunWords, wordForms } from "../../../core/files/output-names.js";
import type { FoundManifest } from "../../../core/manifest/found-manifest.js";
import { manifestAt } from "../../../io/output/publish/send-objects.js";
import { outputBase } from "../../../io/output/check-paths.js";
import { findManifest } from "../../../io/output/manifest-file.js";
import { isObjectAddress } from "../../../io/object/address.js";
import { listObjects } from "../../../io/object/list-objects.js";

interface NameParts {
  /** Its folder or bucket. */
  readonly before: string;
  /** The file or key, in which `{date}` and `{run_id}` may be. */
  readonly name: string;
  readonly after: string;
}

/**
 * The outputs of one pattern that are earlier than one of them, the newest first: by their date, then by
 * the identifier of their run, since those of later runs sort later.
 *
 * @param pattern the name with `{date}` or `{run_id}`
 * @param own name of that output
 */
export async function previousOutputs(pattern: string, own: string): Promise<readonly string[]> {
  const parts = partsOf(pattern);
  const { before, name, after } = parts;
  const keyOf = keysOf(name);
  const [ownFile = ""] = /^duckdb:/i.test(own) ? own.split("?", 1) : [own];
  const now = keyOf(ownFile.slice(before.length));
  const found = new Map<string, string>();
  for (const each of await namesLike(parts)) {
    const key = keyOf(each);
    if (key !== null && now !== null && key < now) found.set(key, before + each + after);
  }
  return [...found].toSorted(([a], [b]) => (a < b ? 1 : -1)).map(([, output]) => output);
}

/** The pattern of an output that is named after its run; null for any other. */
export function patternOf(output: string): string | null {
  const { before, name, after } = partsOf(output);
  const named = withWords(name);
  // Folders tell only where the file does not.
  const pattern = hasRunWords(named) ? before + named : withWords(before) + name;
  return hasRunWords(pattern) ? pattern + after : null;
}

function withWords(name: string): string {
  return Object.entries(wordForms).reduce(
    (text, [word, form]) => text.replaceAll(new RegExp(`(?<!\\w)${form}(?!\\w)`, "gi"), word),
    name,
  );
}

export async function storedManifest(
  output: string,
  stateDir?: string,
): Promise<FoundManifest | null> {
  if (isObjectAddress(output)) return (await manifestAt(manifestPath(output))).manifest;
  return findManifest(outputBase(output, stateDir)).catch(() => null);
}

/** Why an output cannot be compared with; null if it can. */
export async function faultOf(output: string, stateDir?: string): Promise<string | null> {
  const manifest = await storedManifest(output, stateDir);
  if (manifest === null) return noManifest;
  // Objects appear as a whole.
  if (isObjectAddress(output)) return null;
  const base = outputBase(output, stateDir);
  const bytes = manifest.output?.bytes;
  // A table has no file.
  if (typeof bytes !== "number") return null;
  const facts = await stat(base).catch(() => null);
  if (facts === null) return `${base} is missing`;
  return facts.size === bytes ? null : `${base} has ${facts.size} bytes instead of ${bytes}`;
}

const noManifest = "it has no manifest that can be read";

function partsOf(output: string): NameParts {
  const [file = "", after = ""] = /^duckdb:/i.test(output) ? output.split(/(?=\?)/, 2) : [output];
  const [before = ""] = isObjectAddress(file)
    ? (/^s3:\/\/[^/]*\//i.exec(file) ?? [])
    : (/^(?:duckdb:)?(?:[^{]*\/)?/i.exec(file) ?? []);
  return { before, name: file.slice(before.length), after };
}

/** Names that may be of the pattern: files or keys. */
async function namesLike({ before, name }: NameParts): Promise<readonly string[]> {
  if (isObjectAddress(before)) {
    const [prefix = ""] = name.split("{", 1);
    return (await listObjects(before + prefix)).map((key) => prefix + key);
  }
  const folder = before.replace(/^duckdb:/i, "") || ".";
  const steps = name.split("/");
  let found = [""];
  for (const [depth, step] of steps.entries()) {
    const isFolder = depth < steps.length - 1;
    const fits = keysOf(step);
    const next: string[] = [];
    for (const path of found) {
      for (const entry of await readdir(join(folder, path), { withFileTypes: true })) {
        const isOne = entry.isDirectory() === isFolder && fits(entry.name) !== null;
        if (isOne) next.push(`${path}${entry.name}${isFolder ? "/" : ""}`);
      }
    }
    found = next;
  }
  return found;
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
    const { groups } = whole.exec(name) ?? {};
    return groups === undefined ? null : `${groups["date"] ?? ""} ${groups["run_id"] ?? ""}`;
  };
}
