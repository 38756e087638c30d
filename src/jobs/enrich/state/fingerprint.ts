import { createHash } from "node:crypto";
import { open, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { schemaVersion } from "../../../core/columns.js";
import { isObjectAddress } from "../../../io/s3/address.js";
import type { ExclusionList } from "../../../core/exclusions/exclusion-list.js";
import { inputsOf, type RunInput, type SourceInput } from "../../../io/input/types.js";
import { realPath } from "../../../core/files/folders.js";
import { firstNames } from "../../../core/wording/quantity.js";
import type { Job } from "../types.js";

/** Number of bytes hashed at each end of an input file to recognise it. */
const sampleBytes = 64 * 1024;

/** Identifies an input. */
interface InputIdentity {
  /** Path as given; null for a stream that cannot be recognised. */
  readonly path: string | null;
  /** The resolved path, independent of spelling and links. */
  readonly file?: string;
  /** Null for an input that is not looked into. */
  readonly bytes: number | null;
  /** SHA-256 of the first 64 KiB and of the last 64 KiB before `bytes`, or the version of a stream. */
  readonly content: string | null;
}

/** What a resumed run must share with the run it continues. */
export interface Fingerprint {
  readonly schemaVersion: number;
  readonly inputs: readonly InputIdentity[];
  /** Options that affect the output, by flag name; null or absent if they are not given. */
  readonly options: Readonly<Record<string, unknown>>;
}

const unread = { bytes: null, content: null };

/** Identifies an input by its first `bytes` bytes (default: all). */
export async function identifyInput(input: SourceInput, bytes?: number): Promise<InputIdentity> {
  if (!("path" in input)) {
    const { name, version } = input;
    if (version === undefined) return { path: null, ...unread };
    return { path: name, ...unread, content: version };
  }
  const { path, copyOf } = input;
  // The copy stays the same whatever becomes of the table; an object has versions.
  if (copyOf !== undefined) {
    return { path: copyOf.name, ...unread, content: (await copyOf.version?.()) ?? null };
  }
  const file = realPath(path);
  // Opening the input later reports why it cannot be read.
  const facts = await stat(path).catch(() => null);
  const handle = facts?.isFile() === true ? await open(path, "r").catch(() => null) : null;
  if (facts === null || handle === null) return { path, file, ...unread };
  const size = Math.min(bytes ?? facts.size, facts.size);
  const hash = createHash("sha256");
  try {
    for (const from of [0, Math.max(0, size - sampleBytes)]) {
      const buffer = Buffer.alloc(Math.min(size, sampleBytes));
      await handle.read(buffer, 0, buffer.length, from);
      hash.update(buffer);
    }
    return { path, file, bytes: size, content: hash.digest("hex") };
  } finally {
    await handle.close();
  }
}

/** Identifies a run: its input, and every option that its output depends on. */
export async function takeFingerprint(
  { settings, input, session, rows, refill }: Job,
  { format }: { readonly format: string },
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
    to: format,
    gzip: output.output.gzip,
    "input-columns": output.inputColumns,
    "es-action": esAction,
    "es-id": esId,
    exclude: lists.map(listIdentity),
    "url-query": lookup.urlQuery,
    "intel-url": session.service.name,
  };
  const inputs: InputIdentity[] = [];
  for (const one of inputsOf(input)) {
    if (refill?.inPlace === true && "path" in one) {
      // When it is replaced, it is another one.
      const file = isObjectAddress(one.path) ? one.path : realPath(one.path);
      inputs.push({ path: one.path, file, ...unread });
    } else inputs.push(await identifyInput(one));
  }
  return { schemaVersion, inputs, options };
}

/** A changed list is another one. */
function listIdentity({ path, sha256 }: Pick<ExclusionList, "path" | "sha256">): string {
  return `${resolve(path)} (sha256 ${sha256.slice(0, 12)}…)`;
}

/**
 * Compares the fingerprint of an interrupted run with this one. Growth of the input is not a
 * difference: log files grow.
 *
 * @param input the input as it is now
 * @returns a phrase for each difference, and whether the input grew
 */
export async function compareFingerprints(before: Fingerprint, now: Fingerprint, input: RunInput) {
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
  const [was, is] = [before.inputs, now.inputs];
  const others = otherInputs(was, is);
  if (others !== null) differences.push(others);
  for (const [index, one] of others === null ? inputsOf(input).entries() : []) {
    const changed = await otherContent(was[index]!, is[index]!, one);
    if (changed !== null) differences.push(changed);
  }
  const grew = ({ bytes }: InputIdentity, index: number): boolean =>
    (bytes ?? 0) > (was[index]?.bytes ?? Number.POSITIVE_INFINITY);
  return { differences, inputGrew: is.some(grew) };
}

/** Says which inputs were added or are gone; null for none. */
function otherInputs(was: readonly InputIdentity[], now: readonly InputIdentity[]): string | null {
  if (was.length === now.length && was.every((one, index) => isSamePath(one, now[index]))) {
    return null;
  }
  const nameOf = ({ path }: InputIdentity): string => path ?? "a stream";
  if (was.length === 1 && now.length === 1) {
    return `the input was ${nameOf(was[0]!)}, now ${nameOf(now[0]!)}`;
  }
  const others = (list: typeof was, than: typeof was, what: string): string[] =>
    list
      .filter((one) => !than.some((other) => isSamePath(one, other)))
      .map((one) => `${nameOf(one)} is ${what}`);
  const changes = [...others(was, now, "gone"), ...others(now, was, "new")];
  if (changes.length === 0) return "the order of the inputs has changed";
  return `the inputs were ${was.length}, now ${now.length}: ${firstNames(changes, 3)}`;
}

async function otherContent(
  was: InputIdentity,
  now: InputIdentity,
  input: SourceInput,
): Promise<string | null> {
  const name = was.path ?? "the input";
  const changed = `the content of ${name} has changed`;
  // A version; null for a device, or a file whose fault is reported when it is opened.
  if (now.bytes === null) return [null, was.content].includes(now.content) ? null : changed;
  if (was.bytes !== null && now.bytes < was.bytes) {
    return `${name} had ${was.bytes} bytes, now ${now.bytes}`;
  }
  const { content } = await identifyInput(input, was.bytes ?? undefined);
  return was.content === content ? null : changed;
}

/** `./a.csv`, `a.csv`, an absolute path and links to the file all name the same input. */
function isSamePath(one: InputIdentity, other: InputIdentity | undefined): boolean {
  return one.path === other?.path || (one.file !== undefined && one.file === other?.file);
}
