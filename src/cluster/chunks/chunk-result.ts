import { counted } from "../../core/text/quantity.js";
import { ReputeError } from "../../core/errors.js";
import { hashBytes, hashFile } from "../../core/files/file-hash.js";
import { openSealedJson, sealJson } from "../../core/files/json-file.js";
import type { Manifest } from "../../core/manifest/manifest.js";
import type { WorkFolder } from "./work-folder.js";
import { chunkName, type PlannedChunk, type WorkPlan } from "./work-plan.js";

/** A file of a chunk's output. */
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

/** Why a chunk has to be done again. */
export interface ChunkFault {
  readonly chunk: number;
  readonly what: string;
}

export function resultName(chunk: number): string {
  return `${chunkName(chunk)}.json`;
}

/** Publishes a result; false if another attempt was first. */
export function publishResult(work: WorkFolder, result: ChunkResult): Promise<boolean> {
  return work.publish(resultName(result.chunk), chunkResultText(result));
}

export function chunkResultText(result: ChunkResult): string {
  return `${sealJson(result)}\n`;
}

/**
 * The result of a chunk, null if there is none, or why it cannot be used.
 *
 * @param name where it is stored; by default, where it is published
 */
export async function readChunkResult(
  work: WorkFolder,
  plan: WorkPlan,
  { chunk, rows }: PlannedChunk,
  name = resultName(chunk),
): Promise<ChunkResult | ChunkFault | null> {
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

/** Reads both files of a result and compares them with it; null if they are intact. */
export async function checkFiles(
  work: WorkFolder,
  { chunk, output, rejects }: ChunkResult,
): Promise<ChunkFault | null> {
  for (const each of [output, rejects]) {
    const bytes = await work.open(each.file);
    const what = await damageIn(bytes, each);
    if (what !== null) return { chunk, what };
  }
  return null;
}

/** Reads a file and compares it with its description; null if it is intact. */
async function damageIn(
  bytes: AsyncIterable<Uint8Array> | null,
  wanted: ResultFile,
): Promise<string | null> {
  if (bytes === null) return `${wanted.file} is missing`;
  const found = await hashBytes(bytes).catch((error: NodeJS.ErrnoException) => {
    if (error instanceof ReputeError) throw error;
    return null;
  });
  return found === null ? `${wanted.file} is missing` : fileDifference(found, wanted);
}

/** How a file differs from its description; null if it does not. */
export function fileDifference(
  found: Omit<ResultFile, "file">,
  { file, bytes, sha256 }: ResultFile,
): string | null {
  if (found.bytes !== bytes) return `${file} has ${found.bytes} bytes instead of ${bytes}`;
  return found.sha256 === sha256 ? null : `${file} has changed`;
}

/** Size and checksum of a file that this machine wrote. @throws the system's error */
export async function describeFile(work: WorkFolder, file: string): Promise<ResultFile> {
  const { bytes, sha256 } = await hashFile(work.pathOf(file));
  return { file, bytes, sha256 };
}
