import { createHash } from "node:crypto";
import { open, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { schemaVersion } from "../../core/columns.js";
import type { ExclusionList } from "../../core/exclusions/exclusion-list.js";
import { inputsOf, type RunInput, type SourceInput } from "../../io/input/types.js";
import { onlySpelling } from "./destination/choose-output.js";
import type { Job } from "./types.js";

/** Number of bytes hashed at each end of an input file to recognise it. */
const sampleBytes = 64 * 1024;

/** Identifies an input. */
interface InputIdentity {
  /** Its file, however the path is spelled; null for a stream that cannot be recognised. */
  readonly name: string | null;
  /** Null for an input that is not looked into. */
  readonly bytes: number | null;
  /** SHA-256 of the first 64 KiB and of the last 64 KiB before `bytes`, or the version of a stream. */
  readonly content: string | null;
}

/** What a resumed run must share with the run it continues. */
export interface Fingerprint {
  readonly inputs: readonly InputIdentity[];
  /** Options that affect the output, by flag name; null or absent if they are not given. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** Identifies an input by its first `bytes` bytes (default: all). */
export async function identifyInput(input: SourceInput, bytes?: number): Promise<InputIdentity> {
  if (!("path" in input)) {
    const { name, version = null } = input;
    return { name: version && name, bytes: null, content: version };
  }
  const { path, copyOf } = input;
  // The copy stays the same whatever becomes of the table; an object has versions.
  if (copyOf !== undefined) {
    return { name: copyOf.name, bytes: null, content: (await copyOf.version?.()) ?? null };
  }
  const name = onlySpelling(path);
  // Opening the input later reports why it cannot be read.
  const facts = await stat(path).catch(() => null);
  await using handle = facts?.isFile() === true ? await open(path, "r").catch(() => null) : null;
  if (facts === null || handle === null) return { name, bytes: null, content: null };
  const size = Math.min(bytes ?? facts.size, facts.size);
  const hash = createHash("sha256");
  for (const from of [0, Math.max(0, size - sampleBytes)]) {
    const buffer = Buffer.alloc(Math.min(size, sampleBytes));
    await handle.read(buffer, 0, buffer.length, from);
    hash.update(buffer);
  }
  return { name, bytes: size, content: hash.digest("hex") };
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
    "schema-version": schemaVersion,
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
    const isReplaced = refill?.inPlace === true && "path" in one;
    const unread = isReplaced && { name: onlySpelling(one.path), bytes: null, content: null };
    inputs.push(unread || (await identifyInput(one)));
  }
  return { inputs, options };
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
  const names = new Set([...Object.keys(before.options), ...Object.keys(now.options)]);
  for (const name of names) {
    const was = JSON.stringify(before.options[name] ?? null);
    const is = JSON.stringify(now.options[name] ?? null);
    if (was !== is) differences.push(`--${name} was ${was}, now ${is}`);
  }
  const [was, is] = [before.inputs, now.inputs];
  const longer = was.length > is.length ? was : is;
  const other = longer.findIndex((_, index) => was[index]?.name !== is[index]?.name);
  if (other >= 0) {
    const which = longer.length === 1 ? "the input" : `input ${other + 1}`;
    differences.push(`${which} was ${nameOf(was[other])}, now ${nameOf(is[other])}`);
  }
  for (const [index, one] of other < 0 ? inputsOf(input).entries() : []) {
    const changed = await otherContent(was[index]!, is[index]!, one);
    if (changed !== null) differences.push(changed);
  }
  const grew = ({ bytes }: InputIdentity, index: number): boolean =>
    (bytes ?? 0) > (was[index]?.bytes ?? Number.POSITIVE_INFINITY);
  return { differences, inputGrew: is.some(grew) };
}

function nameOf(input: InputIdentity | undefined): string {
  return input === undefined ? "none" : (input.name ?? "a stream");
}

async function otherContent(
  was: InputIdentity,
  now: InputIdentity,
  input: SourceInput,
): Promise<string | null> {
  const name = was.name ?? "the input";
  const changed = `the content of ${name} has changed`;
  // A version; null for a device, or a file whose fault is reported when it is opened.
  if (now.bytes === null) return [null, was.content].includes(now.content) ? null : changed;
  if (was.bytes !== null && now.bytes < was.bytes) {
    return `${name} had ${was.bytes} bytes, now ${now.bytes}`;
  }
  const { content } = await identifyInput(input, was.bytes ?? undefined);
  return was.content === content ? null : changed;
}
