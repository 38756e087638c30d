import { createHash } from "node:crypto";
import { open, stat } from "node:fs/promises";
import { schemaVersion } from "../../core/columns.js";
import type { SourceInput } from "../../inputs/types.js";
import { finalPath } from "../output/paths.js";

/** Bytes hashed at either end of an input file to know it again. */
const sampleBytes = 64 * 1024;

/** What tells one input from another. */
export interface InputIdentity {
  /** Path as given, or null for a stream, which cannot be known again. */
  readonly path: string | null;
  /** The file that the path stands for, however it is spelled. */
  readonly file?: string;
  readonly bytes: number | null;
  /** SHA-256 of the first 64 KiB, and of the last 64 KiB before `bytes`. */
  readonly head: string | null;
  readonly tail: string | null;
}

/** What a resumed run must have in common with the run that it continues. */
export interface Fingerprint {
  readonly schemaVersion: number;
  readonly input: InputIdentity;
  /** Options that change the output, by flag name. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** Takes an input's identity; of a file the first `bytes` bytes count (default: all). */
export async function identifyInput(input: SourceInput, bytes?: number): Promise<InputIdentity> {
  if (!("path" in input)) return { path: null, bytes: null, head: null, tail: null };
  const { path } = input;
  const file = await finalPath(path);
  const unread = { path, file, bytes: null, head: null, tail: null };
  // Opening the input explains why it cannot be read.
  const facts = await stat(path).catch(() => null);
  if (!facts?.isFile()) return unread;
  const size = Math.min(bytes ?? facts.size, facts.size);
  const handle = await open(path, "r").catch(() => null);
  if (handle === null) return unread;
  try {
    const hashOf = async (from: number, to: number): Promise<string> => {
      const buffer = Buffer.alloc(to - from);
      await handle.read(buffer, 0, buffer.length, from);
      return createHash("sha256").update(buffer).digest("hex");
    };
    return {
      path,
      file,
      bytes: size,
      head: await hashOf(0, Math.min(size, sampleBytes)),
      tail: await hashOf(Math.max(0, size - sampleBytes), size),
    };
  } finally {
    await handle.close();
  }
}

export function fingerprintOf(
  input: InputIdentity,
  options: Readonly<Record<string, unknown>>,
): Fingerprint {
  return { schemaVersion, input, options };
}

/** What a comparison came to: sentences that name each difference, and whether the input grew. */
export interface FingerprintComparison {
  readonly differences: readonly string[];
  readonly inputGrew: boolean;
}

/**
 * Holds the fingerprint of an interrupted run against this one. An input that only grew is no
 * difference: log files do.
 *
 * @param nowAtOldSize identity of today's input cut to the size that it had
 */
export function compareFingerprints(
  before: Fingerprint,
  now: Fingerprint,
  nowAtOldSize: InputIdentity,
): FingerprintComparison {
  const differences: string[] = [];
  if (before.schemaVersion !== now.schemaVersion) {
    differences.push(`schema version ${before.schemaVersion}, now ${now.schemaVersion}`);
  }
  const names = new Set([...Object.keys(before.options), ...Object.keys(now.options)]);
  for (const name of names) {
    const was = JSON.stringify(before.options[name] ?? null);
    const is = JSON.stringify(now.options[name] ?? null);
    if (was !== is) differences.push(`--${name} was ${was}, now ${is}`);
  }
  const was = before.input;
  if (!isSamePath(was, now.input)) {
    differences.push(
      `the input was ${was.path ?? "a stream"}, now ${now.input.path ?? "a stream"}`,
    );
  } else if (now.input.bytes === null) {
    // Nothing to hold against what it was: a device, or a file that opening it will explain.
  } else if (was.bytes !== null && (now.input.bytes ?? 0) < was.bytes) {
    differences.push(
      `${was.path ?? "the input"} had ${was.bytes} bytes, now ${now.input.bytes ?? 0}`,
    );
  } else if (was.head !== nowAtOldSize.head || was.tail !== nowAtOldSize.tail) {
    differences.push(`the content of ${was.path ?? "the input"} has changed`);
  }
  return { differences, inputGrew: (now.input.bytes ?? 0) > (was.bytes ?? 0) };
}

/** `./a.csv`, `a.csv` and an absolute path name the same input; so do links to it. */
function isSamePath(one: InputIdentity, other: InputIdentity): boolean {
  return one.path === other.path || (one.file !== undefined && one.file === other.file);
}
