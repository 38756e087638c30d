import { createHash } from "node:crypto";
import { open, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { schemaVersion } from "../../../core/columns.js";
import type { ExclusionList } from "../../../core/exclusions/exclusion-list.js";
import type { RunInput, SourceInput } from "../../../io/input/types.js";
import { realPath } from "../../../core/files/folders.js";
import type { Job } from "../types.js";

/** Number of bytes hashed at each end of an input file to recognise it. */
const sampleBytes = 64 * 1024;

/** Identifies an input. */
interface InputIdentity {
  /** Path as given; null for a stream that cannot be recognised. */
  readonly path: string | null;
  /** The resolved path, independent of spelling and links. */
  readonly file?: string;
  readonly bytes: number | null;
  /** SHA-256 of the first 64 KiB, or the version of a stream; and of the last 64 KiB before `bytes`. */
  readonly head: string | null;
  readonly tail: string | null;
  /** Of several inputs, each of them. */
  readonly files?: readonly InputIdentity[];
}

/** What a resumed run must share with the run it continues. */
export interface Fingerprint {
  readonly schemaVersion: number;
  readonly input: InputIdentity;
  /** Options that affect the output, by flag name; null or absent if they are not given. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** What is known of an input that is not looked into. */
const unread = { bytes: null, head: null, tail: null };

async function identifyInputs(input: RunInput, inPlace: boolean): Promise<InputIdentity> {
  if (inPlace && "path" in input) {
    // When it is replaced, it is another one.
    const file = input.isObject === true ? input.path : realPath(input.path);
    return { path: input.path, file, ...unread };
  }
  if (!("inputs" in input)) return identifyInput(input);
  const files: InputIdentity[] = [];
  for (const one of input.inputs) files.push(await identifyInput(one.input));
  return { path: null, ...unread, files };
}

/** Identifies an input by its first `bytes` bytes (default: all). */
export async function identifyInput(input: SourceInput, bytes?: number): Promise<InputIdentity> {
  if (!("path" in input)) {
    const { name, version } = input;
    return version === undefined
      ? { path: null, ...unread }
      : { path: name, ...unread, head: version };
  }
  const { path, copyOf } = input;
  // The copy stays the same whatever becomes of the table; an object has versions.
  if (copyOf !== undefined) {
    return { path: copyOf.name, ...unread, head: (await copyOf.version?.()) ?? null };
  }
  const file = realPath(path);
  // Opening the input later reports why it cannot be read.
  const facts = await stat(path).catch(() => null);
  const handle = facts?.isFile() === true ? await open(path, "r").catch(() => null) : null;
  if (facts === null || handle === null) return { path, file, ...unread };
  const size = Math.min(bytes ?? facts.size, facts.size);
  const hashOf = async (from: number, to: number): Promise<string> => {
    const buffer = Buffer.alloc(to - from);
    await handle.read(buffer, 0, buffer.length, from);
    return createHash("sha256").update(buffer).digest("hex");
  };
  try {
    const head = await hashOf(0, Math.min(size, sampleBytes));
    const tail = await hashOf(Math.max(0, size - sampleBytes), size);
    return { path, file, bytes: size, head, tail };
  } finally {
    await handle.close();
  }
}

/** Identifies a run: its input, and every option that its output depends on. */
export async function takeFingerprint(
  { settings, input, session, rows, refill }: Job,
  target: { readonly format: string; readonly gzip: boolean },
): Promise<Fingerprint> {
  const { output, lookup } = settings;
  const { lists, bogons } = await session.withheld(lookup);
  const { prefix, shape, raw, columns, only, distinct, esAction, esId, table } = output;
  const options = {
    ...rows.options,
    ...table,
    prefix,
    shape,
    raw,
    columns,
    only,
    distinct,
    bogons,
    lookups: lookup.lookups,
    limit: settings.run.limit,
    to: target.format,
    gzip: target.gzip,
    "input-columns": output.inputColumns,
    "es-action": esAction,
    "es-id": esId,
    exclude: lists.map(listIdentity),
    "url-query": lookup.urlQuery,
    "intel-url": session.service.name,
  };
  return { schemaVersion, input: await identifyInputs(input, refill?.inPlace === true), options };
}

/** A changed list is another one. */
function listIdentity({ path, sha256 }: Pick<ExclusionList, "path" | "sha256">): string {
  return `${resolve(path)} (sha256 ${sha256.slice(0, 12)}…)`;
}

/** Result of a comparison: a phrase for each difference, and whether the input grew. */
interface FingerprintComparison {
  readonly differences: readonly string[];
  readonly inputGrew: boolean;
}

/**
 * Compares the fingerprint of an interrupted run with this one. Growth of the input is not a
 * difference: log files grow.
 *
 * @param input the input as it is now
 */
export async function compareFingerprints(
  before: Fingerprint,
  now: Fingerprint,
  input: RunInput,
): Promise<FingerprintComparison> {
  const differences: string[] = [];
  if (before.schemaVersion !== now.schemaVersion) {
    differences.push(`the schema version was ${before.schemaVersion}, now ${now.schemaVersion}`);
  }
  const names = new Set([...Object.keys(before.options), ...Object.keys(now.options)]);
  for (const name of names) {
    const was = JSON.stringify(before.options[name] ?? null);
    const is = JSON.stringify(now.options[name] ?? null);
    if (was !== is) differences.push(`--${name} was ${was}, now ${is}`);
  }
  const several = "inputs" in input;
  const was = (several ? before.input.files : undefined) ?? [before.input];
  const is = now.input.files ?? [now.input];
  const listed = several ? listDifference(was, is) : [];
  differences.push(...listed);
  const inputs = several ? input.inputs.map((named) => named.input) : [input];
  for (const [index, one] of listed.length > 0 ? [] : inputs.entries()) {
    const found = await inputDifference(was[index]!, is[index]!, one);
    if (found !== null) differences.push(found);
  }
  const grew = (file: InputIdentity, index: number): boolean =>
    (file.bytes ?? 0) > ((was[index] ?? file).bytes ?? 0);
  return { differences, inputGrew: is.some(grew) };
}

/** Files that were added or are gone, if the lists differ. */
function listDifference(
  was: readonly InputIdentity[],
  now: readonly InputIdentity[],
): readonly string[] {
  const lacks = (list: readonly InputIdentity[]) => (file: InputIdentity) =>
    !list.some((other) => isSamePath(other, file));
  const changes = [
    ...was.filter(lacks(now)).map(({ path }) => `${path ?? "a stream"} is gone`),
    ...now.filter(lacks(was)).map(({ path }) => `${path ?? "a stream"} is new`),
  ];
  if (changes.length === 0 && was.length === now.length) return [];
  const shown = changes.slice(0, 3).join(", ");
  const more = changes.length > 3 ? ` and ${changes.length - 3} more` : "";
  return [`the inputs were ${was.length}, now ${now.length}${shown && `: ${shown}${more}`}`];
}

async function inputDifference(
  was: InputIdentity,
  now: InputIdentity,
  input: SourceInput,
): Promise<string | null> {
  if (!isSamePath(was, now)) {
    return `the input was ${was.path ?? "a stream"}, now ${now.path ?? "a stream"}`;
  }
  const name = was.path ?? "the input";
  const changed = `the content of ${name} has changed`;
  if (!("path" in input)) return was.head === now.head ? null : changed;
  if (input.copyOf !== undefined) {
    return [null, was.head].includes(now.head) ? null : changed;
  }
  // Nothing to compare: a device, or a file whose fault is reported when it is opened.
  if (now.bytes === null) return null;
  if (was.bytes !== null && now.bytes < was.bytes) {
    return `${name} had ${was.bytes} bytes, now ${now.bytes}`;
  }
  const { head, tail } = await identifyInput(input, was.bytes ?? undefined);
  return was.head === head && was.tail === tail ? null : changed;
}

/** `./a.csv`, `a.csv`, an absolute path and links to the file all name the same input. */
function isSamePath(one: InputIdentity, other: InputIdentity): boolean {
  return one.path === other.path || (one.file !== undefined && one.file === other.file);
}
