import { createHash } from "node:crypto";
import { constants, existsSync } from "node:fs";
import { type FileHandle, lstat, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { startOver, writeAgain, FatalError } from "../../core/errors.js";
import { syncFolder } from "../../core/files/folders.js";
import { type Damage, RunningChecksum } from "../../core/files/checksum.js";
import { outputFault } from "../../core/files/output-fault.js";
import type { SinkPosition, WrittenFile } from "./types.js";

/** Windows has no O_NOFOLLOW; links are followed there. */
export const noLink = constants.O_NOFOLLOW ?? 0;

export function partPath(path: string): string {
  return `${path}.part`;
}

/** Removes an abandoned output's part file; anything else of that name stays. */
export async function removePart(path: string): Promise<void> {
  const facts = await lstat(partPath(path)).catch(() => null);
  if (facts?.isFile()) await rm(partPath(path), { force: true });
}

/** Gives a complete part file its name. Does nothing if it has it. */
export async function renamePart(path: string, suffix = ""): Promise<void> {
  const name = path + suffix;
  try {
    await rename(partPath(path), name).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      if (!existsSync(name)) throw outputGone(name);
    });
    await syncFolder(dirname(name));
  } catch (error) {
    throw error instanceof FatalError ? error : outputFault(name, error);
  }
}

/** The error for an output that is neither waiting for its name nor has it. */
export function outputGone(path: string): FatalError {
  const message = `the output of the finished run is missing: ${path}`;
  return new FatalError("output_gone", message, { hint: startOver });
}

/** How much was written to a file, and its checksum. */
export interface WrittenPosition {
  readonly length: number;
  readonly checksum?: SinkPosition["checksum"] | null;
}

/**
 * Compares a part file with what was written to it: every byte, and no more of them.
 *
 * @param take receives the verified bytes
 * @throws FatalError `output_part_gone`, `output_part_damaged`, `output_*`
 */
export async function readWritten(
  path: string,
  written: WrittenPosition,
  take?: (bytes: Uint8Array) => void,
): Promise<WrittenFile> {
  const part = partPath(path);
  const { length } = written;
  const hash = createHash("sha256");
  try {
    await using handle = await open(part, constants.O_RDONLY | noLink);
    await verifyPart(part, handle, written, (bytes) => {
      hash.update(bytes);
      take?.(bytes);
    });
    const { size } = await handle.stat();
    if (size > length) throw partDamaged(part, { from: length, to: size });
    return { bytes: length, sha256: hash.digest("hex") };
  } catch (error) {
    throw partFault(part, error);
  }
}

/**
 * Verifies what was written to a part file, up to `length`.
 *
 * @param take receives the verified bytes
 * @returns the checksum, to be continued
 */
export async function verifyPart(
  part: string,
  handle: FileHandle,
  { length, checksum: before }: WrittenPosition,
  take?: (bytes: Uint8Array) => void,
): Promise<RunningChecksum> {
  if (before?.bytes !== length) throw partGone(part);
  const mustHave = (size: number): void => {
    if (size < length) throw partGone(part, `has ${size} bytes; the run wrote ${length}`);
  };
  mustHave((await handle.stat()).size);
  const checksum = new RunningChecksum(before);
  const damage = await checksum.read(handle, length, take);
  if (damage !== null) throw partDamaged(part, damage);
  mustHave(checksum.bytes);
  return checksum;
}

function partDamaged(part: string, { from, to }: Damage): FatalError {
  const message = `${part} is damaged between byte ${from} and byte ${to}`;
  return new FatalError("output_part_damaged", message, { hint: writeAgain });
}

/** The error for a part file that is missing, too short or not the run's. */
function partGone(part: string, what = "is not the file that the run wrote"): FatalError {
  return new FatalError("output_part_gone", `${part} ${what}`, { hint: writeAgain });
}

/** Explains why a part file cannot be read. */
export function partFault(part: string, error: unknown): FatalError {
  if (error instanceof FatalError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return partGone(part, "is gone");
  return code === "ELOOP" ? partGone(part, "is a symbolic link now") : outputFault(part, error);
}

/** Whether a file of rows is lost or damaged, so that they have to be written again. */
export function isPartLost(error: unknown): error is FatalError {
  return error instanceof FatalError && lostParts.has(error.code);
}

const lostParts: ReadonlySet<string> = new Set([
  "output_gone",
  "output_part_gone",
  "output_part_damaged",
]);
