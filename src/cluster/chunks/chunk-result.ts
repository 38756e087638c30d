import { FatalError, ReputeError } from "../../core/errors.js";
import { hashBytes, hashFile } from "../../core/files/file-hash.js";
import { openSealedJson, sealJson } from "../../core/files/json-file.js";
import type { Manifest } from "../../core/manifest/manifest.js";
import { counted, shellWord } from "../../core/text/quantity.js";
import type { WorkFolder } from "./work-folder.js";
import { chunkName, type PlannedChunk, type WorkPlan } from "./work-plan.js";

export interface ResultFile {
  /** Name in the work folder. */
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * The record that makes a chunk done. Each attempt at a chunk writes files of its own; the first to
 * publish a record wins, and only the files that it names count.
 */
export interface ChunkResult {
  readonly plan_id: string;
  readonly chunk: number;
  readonly rows: number;
  readonly output: ResultFile;
  /** Rows that are neither complete nor partial, in the format of the input. */
  readonly rejects: ResultFile;
  /** The counts of its run. */
  readonly manifest: Manifest;
}

export interface ChunkFault {
  readonly chunk: number;
  readonly what: string;
}

export function resultName(chunk: number): string {
  return `${chunkName(chunk)}.json`;
}

/** Publishes a result; false if another attempt was first. */
export function publishResult(work: WorkFolder, result: ChunkResult): Promise<boolean> {
  return work.publish(resultName(result.chunk), `${sealJson(result)}\n`);
}

/** The result of a chunk, null if there is none, or why it cannot be used. */
export async function readChunkResult(
  work: WorkFolder,
  plan: WorkPlan,
  { chunk, rows }: PlannedChunk,
): Promise<ChunkResult | ChunkFault | null> {
  const name = resultName(chunk);
  const text = await work.read(name);
  if (text === null) return null;
  const result = openSealedJson(text) as ChunkResult | null;
  if (result === null) return { chunk, what: `${name} is damaged` };
  if (result.plan_id !== plan.plan_id || result.chunk !== chunk) {
    return { chunk, what: `${name} belongs to another plan` };
  }
  if (result.rows !== rows) {
    return { chunk, what: `${name} has ${counted(result.rows, "row")} instead of ${rows}` };
  }
  return result;
}

export function isFault(found: ChunkResult | ChunkFault): found is ChunkFault {
  return "what" in found;
}

/** Results read at a time. */
const parallel = 16;

/** The results in order. @throws FatalError `chunks_missing`, naming those that are not there */
export async function allResults(
  work: WorkFolder,
  plan: WorkPlan,
  signal: AbortSignal,
): Promise<readonly ChunkResult[]> {
  const results: ChunkResult[] = [];
  const faults: ChunkFault[] = [];
  for (let at = 0; at < plan.chunks.length; at += parallel) {
    signal.throwIfAborted();
    const planned = plan.chunks.slice(at, at + parallel);
    const found = await Promise.all(planned.map((chunk) => readChunkResult(work, plan, chunk)));
    for (const [index, result] of found.entries()) {
      if (result === null) faults.push({ chunk: planned[index]!.chunk, what: "not done" });
      else if (isFault(result)) faults.push(result);
      else results.push(result);
    }
  }
  refuseFaults(work, plan, faults);
  return results;
}

/** Most chunks named in a message. */
const mostNamed = 10;

/** Refuses chunks that are not done or damaged. @throws FatalError `chunks_missing` */
export function refuseFaults(
  work: WorkFolder,
  plan: WorkPlan,
  faults: readonly ChunkFault[],
): void {
  if (faults.length === 0) return;
  const named = faults.slice(0, mostNamed);
  const more = faults.length > named.length ? [`and ${faults.length - named.length} more`] : [];
  const lines = [...named.map(({ chunk, what }) => `chunk ${chunk}: ${what}`), ...more];
  const numbers = named.map(({ chunk }) => chunk).join(" ");
  throw new FatalError(
    "chunks_missing",
    `${faults.length} of ${counted(plan.chunks.length, "chunk")} in ${work.name} ${faults.length === 1 ? "is" : "are"} not done:\n  ${lines.join("\n  ")}`,
    {
      hint: `do them, then merge again: for n in ${numbers}; do repute enrich ${shellWord(work.name)} --chunk $n; done`,
    },
  );
}

/**
 * Reads a file of a result and compares it with its record.
 *
 * @param take called with each part of the file, before the whole is compared
 * @returns what is wrong with it, or null
 */
export async function checkFile(
  work: WorkFolder,
  { file, bytes, sha256 }: ResultFile,
  take?: (part: Buffer) => Promise<void>,
  signal?: AbortSignal,
): Promise<string | null> {
  const parts = await work.open(file, signal);
  const found =
    parts &&
    (await hashBytes(parts, take).catch((error: NodeJS.ErrnoException) => {
      if (error instanceof ReputeError || error.syscall === undefined) throw error;
      return null;
    }));
  if (found === null) return `${file} is missing`;
  if (found.bytes !== bytes) return `${file} has ${found.bytes} bytes instead of ${bytes}`;
  return found.sha256 === sha256 ? null : `${file} has changed`;
}

/** Size and checksum of a file that this machine wrote. @throws the system's error */
export async function describeFile(work: WorkFolder, file: string): Promise<ResultFile> {
  const { bytes, sha256 } = await hashFile(work.pathOf(file));
  return { file, bytes, sha256 };
}
