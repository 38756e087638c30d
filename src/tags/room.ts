import { statfs } from "node:fs/promises";
import { totalmem } from "node:os";
import { TagExportError } from "./faults.js";

/** Available space in bytes; null if unknown. */
export interface Room {
  readonly disk: number | null;
  readonly memory: number;
}

/** Size of a list as its reported total and first page suggest. */
export interface ClaimedList {
  readonly tag: string;
  readonly total: number;
  /** Fraction of the addresses that are IPv6. */
  readonly v6Share: number;
}

/** Free space in a folder, and memory that this process may use. */
export async function roomIn(folder: string): Promise<Room> {
  // File systems that report no size report no free space either.
  const facts = await statfs(folder).catch(() => null);
  const limit = process.constrainedMemory();
  return {
    disk: facts === null || facts.blocks === 0 ? null : facts.bavail * facts.bsize,
    memory: limit > 0 ? Math.min(limit, totalmem()) : totalmem(),
  };
}

/**
 * Refuses a list that cannot fit before it is read for hours. Compares the minimum that such a list
 * takes, so a list that might fit is never refused.
 *
 * @throws TagExportError `list_too_large`, naming both numbers
 */
export function assertRoom({ tag, total, v6Share }: ClaimedList, { disk, memory }: Room): void {
  const words = total * (4 + 12 * v6Share);
  // Stored twice, as pages and as a list; as text, an address takes at least 8 bytes.
  const files = 2 * words + 8 * total;
  const faults: string[] = [];
  if (disk !== null && files > disk) {
    faults.push(`${gigabytes(files)} on disk (${gigabytes(disk)} free)`);
  }
  if (words > memory) {
    faults.push(`${gigabytes(words)} of memory (${gigabytes(memory)} available)`);
  }
  if (faults.length === 0) return;
  throw new TagExportError(
    "list_too_large",
    `the list of tag ${tag} has a total of ${total.toLocaleString("en-US")} and needs at least ${faults.join(", and ")}`,
    {
      hint: "if the total is right, export on a machine with more space; no part of the list was kept",
    },
  );
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toLocaleString("en-US", { maximumFractionDigits: 1 })} GB`;
}
