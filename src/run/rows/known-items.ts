import { hash } from "node:crypto";
import { open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { systemClock } from "../../core/clock.js";
import { FatalError, UsageError } from "../../core/errors.js";
import { startOver } from "../../core/remedies.js";
import type { Item } from "../../core/item/item.js";
import { outputFault } from "../../outputs/output-fault.js";
import type { SinkSettings } from "../../outputs/options.js";
import { cellOf } from "../../outputs/tables/values.js";
import type { TableReceiver } from "../../outputs/tables/types.js";
import type { TableRows } from "../../outputs/registry.js";
import type { EnrichJob } from "../types.js";
import { skipped } from "./move-rows.js";
import type { RowHandling } from "./row-handling.js";

/** Length of an item's digest: with 10^9 items, the probability of any collision is below 10^-20. */
const digestBytes = 16;

/** A set of items, in about 64 bytes each. */
export class KnownItems {
  size = 0;
  /** A Set holds at most 2^24 entries, so digests are spread over 256 sets by their first byte. */
  readonly #sets = Array.from({ length: 256 }, () => new Set<string>());

  has(item: Item): boolean {
    const digest = digestOfItem(item);
    return this.#sets[digest[0]!]!.has(digest.toString("latin1"));
  }

  /** Adds an item. @returns whether it is new */
  add(item: Item): boolean {
    return this.#add(digestOfItem(item));
  }

  /** Adds items by their digests, one after the other. */
  addDigests(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += digestBytes) {
      this.#add(bytes.subarray(at, at + digestBytes));
    }
  }

  #add(digest: Buffer): boolean {
    const set = this.#sets[digest[0]!]!;
    const text = digest.toString("latin1");
    if (set.has(text)) return false;
    set.add(text);
    this.size++;
    return true;
  }
}

type KnownItemsJob = Pick<EnrichJob, "signal" | "clock" | "onWarning"> & {
  readonly settings: Pick<SinkSettings, "prefix" | "onlyNew">;
};

/**
 * The items of the table that a run writes to. They are kept in the state folder for a resume.
 *
 * @throws as reading a table does
 */
export async function readKnownItems(
  { settings, signal, clock = systemClock, onWarning = () => undefined }: KnownItemsJob,
  rows: TableRows,
  folder: string,
): Promise<KnownItems> {
  const { prefix, onlyNew } = settings;
  const since = typeof onlyNew === "object" ? Math.max(0, clock.now() - onlyNew.ms) : null;
  const query = await rows.items({ prefix, since });
  // Null for a table that does not exist yet.
  const table = query === null ? null : await rows.input(query);
  const known = new KnownItems();
  const path = fileIn(folder);
  const fail = (error: unknown): never => {
    throw outputFault(path, error);
  };
  const file = await open(`${path}.new`, "w", 0o600).catch(fail);
  let crc = 0;
  const receiver: TableReceiver = {
    // Reading may start over; repeated items do no harm.
    begin: () => Promise.resolve(),
    async rows(batch) {
      const digests = batch.map(([kind = "", item = ""]) => digestOf(cellOf(kind), cellOf(item)));
      const bytes = Buffer.concat(digests);
      known.addDigests(bytes);
      crc = crc32(bytes, crc);
      await file.writeFile(bytes).catch(fail);
    },
  };
  try {
    await table?.read(receiver, { signal, onWarning, clock });
    const trailer = Buffer.alloc(trailerBytes);
    trailer.writeUInt32LE(crc);
    await file.writeFile(trailer).catch(fail);
    await file.sync().catch(fail);
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path).catch(fail);
  return known;
}

/** Length of the checksum at the end of the file. */
const trailerBytes = 4;

/** Reads the items that the interrupted run found. @throws FatalError `copy_damaged` */
export async function restoreKnownItems(folder: string): Promise<KnownItems> {
  const path = fileIn(folder);
  const bytes = await readFile(path).catch(() => Buffer.alloc(0));
  const end = bytes.length - trailerBytes;
  const digests = bytes.subarray(0, Math.max(0, end));
  if (end < 0 || end % digestBytes > 0 || crc32(digests) !== bytes.readUInt32LE(end)) {
    const message = `the list of known items is missing or damaged: ${path}`;
    throw new FatalError("copy_damaged", message, { hint: startOver });
  }
  const known = new KnownItems();
  known.addDigests(digests);
  return known;
}

/** The error for `--only-new` with another output, or where the table's rows would not stay. */
export function needsTable(name: string, mode?: string): UsageError {
  if (mode === "replace") {
    const removes = "--only-new with --mode replace would remove the rows of all items it skips";
    return new UsageError("only_new_needs_table", removes, {
      hint: "leave out --only-new, or use --mode merge",
    });
  }
  const message = `--only-new needs a table as output, and ${name} is not one`;
  return new UsageError("only_new_needs_table", message, {
    hint: "write to duckdb:FILE?table=NAME or postgres://…?table=NAME",
  });
}

/** The same rows, of which those with a known item are skipped. */
export function withoutKnown(handling: RowHandling, known: KnownItems): RowHandling {
  const settled = Promise.resolve(skipped);
  return {
    ...handling,
    start: (lookup) =>
      handling.start((item, options) => (known.has(item) ? settled : lookup(item, options))),
  };
}

export function digestOfItem({ kind, value }: Item): Buffer {
  return digestOf(kind, value);
}

function digestOf(kind: string, item: string): Buffer {
  return hash("sha256", `${kind} ${item}`, "buffer").subarray(0, digestBytes);
}

function fileIn(folder: string): string {
  return join(folder, "known-items");
}
