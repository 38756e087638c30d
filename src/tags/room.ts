import { statfs } from "node:fs/promises";
import { totalmem } from "node:os";
import { TagExportError } from "./faults.js";

/** The room that there is, in bytes; null where that cannot be told. */
export interface Room {
  readonly disk: number | null;
  readonly memory: number;
}

/** What a list is expected to be, by its total and the addresses of its first page. */
export interface ClaimedList {
  readonly tag: string;
  readonly total: number;
  /** Share of the addresses that are IPv6. */
  readonly v6Share: number;
}

/** The room in a folder, and in the memory that this process may take. */
export async function roomIn(folder: string): Promise<Room> {
  // A file system that tells no size tells no free space either.
  const facts = await statfs(folder).catch(() => null);
  const limit = process.constrainedMemory();
  return {
    disk: facts === null || facts.blocks === 0 ? null : facts.bavail * facts.bsize,
    memory: limit > 0 ? Math.min(limit, totalmem()) : totalmem(),
  };
}

/**
 * Makes sure that a list can be held, before it is read for hours. Each bound is the least that such
 * a list can take, so that no list is refused that might fit.
 *
 * @throws TagExportError `list_too_large`, naming both numbers
 */
export function assertRoom({ tag, total, v6Share }: ClaimedList, { disk, memory }: Room): void {
  const words = total * (4 + 12 * v6Share);
  // Once among the pages and once in the stored list; an address as text has at least 8 bytes.
  const files = 2 * words + 8 * total;
  const faults: string[] = [];
  if (disk !== null && files > disk) {
    faults.push(`${gigabytes(files)} on disk, where ${gigabytes(disk)} are free`);
  }
  if (words > memory) {
    faults.push(`${gigabytes(words)} of memory, where there are ${gigabytes(memory)}`);
  }
  if (faults.length === 0) return;
  throw new TagExportError(
    "list_too_large",
    `the total of the list of tag ${tag} is ${total.toLocaleString("en-US")}: it needs at least ${faults.join(", and ")}`,
    { hint: "if the total is right, export to where there is room; nothing of the list was kept" },
  );
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toLocaleString("en-US", { maximumFractionDigits: 1 })} GB`;
}
