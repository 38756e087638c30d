import type { SinkPosition } from "./types.js";
import type { FileHandle } from "node:fs/promises";
import { FatalError } from "../core/errors.js";
import { startOver } from "../core/error-codes/remedies.js";
import { type Damage, RunningChecksum } from "../core/files/running-checksum.js";

/**
 * Verifies what an interrupted run wrote, up to its checkpoint.
 * @returns the checksum, to be continued
 */
export async function verifyPart(
  part: string,
  handle: FileHandle,
  { length, checksum: before }: Pick<SinkPosition, "length" | "checksum">,
): Promise<RunningChecksum> {
  if (before?.bytes !== length) throw partGone(part);
  const { size } = await handle.stat();
  if (size < length) throw partShort(part, size, length);
  const checksum = new RunningChecksum(before);
  const damage = await checksum.read(handle, length);
  if (damage !== null) throw partDamaged(part, damage);
  if (checksum.bytes < length) throw partShort(part, checksum.bytes, length);
  return checksum;
}

/** The error for a part file that is missing or not the interrupted run's. */
export function partGone(part: string): FatalError {
  return new FatalError(
    "output_part_gone",
    `${part} is not the file that the interrupted run left`,
    {
      hint: startOver,
    },
  );
}

/**
 * The error for a part file that is a symbolic link. repute never creates one and doesn't touch its
 * target.
 */
export function partIsLink(part: string): FatalError {
  return new FatalError("output_part_link", `cannot write ${part}: it is a symbolic link`, {
    hint: "remove the link, then run again",
  });
}

export function partShort(part: string, size: number, length: number): FatalError {
  const message = `${part} has ${size} bytes; the interrupted run wrote ${length}`;
  return new FatalError("output_part_gone", message, { hint: startOver });
}

export function partDamaged(part: string, { from, to }: Damage): FatalError {
  const message = `${part} is damaged between byte ${from} and byte ${to}`;
  return new FatalError("output_part_damaged", message, { hint: startOver });
}
