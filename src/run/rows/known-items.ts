import { hash } from "node:crypto";
import { open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { systemClock } from "../../core/clock.js";
import { FatalError, UsageError } from "../../core/errors.js";
import type { Item } from "../../core/item/item.js";
import { outputFault } from "../../outputs/output-fault.js";
import type { SinkSettings } from "../../outputs/options.js";
import { cellOf } from "../../outputs/tables/values.js";
import type { TableInput, TableReadOptions } from "../../outputs/tables/types.js";
import type { TableRows } from "../../outputs/registry.js";
import type { EnrichJob } from "../types.js";
import { skipped } from "./skipped.js";
import type { RowHandling } from "./row-handling.js";

/** Length of an item's digest: with 10^9 items, the probability of any collision is below 10^-20. */
const digestBytes = 16;

/** Length of the checksum at the end of the file. */
const trailerBytes = 4;

/** Items that a table had when the run began, kept in the state folder for a resume. */
export class KnownItems {
  /** A Set holds at most 2^24 entries, so digests are spread over 256 sets by their first byte. */
  readonly #sets = Array.from({ length: 256 }, () => new Set<string>());

  has(item: Item): boolean {
    const digest = digestOfItem(item);
    return this.#sets[digest[0]!]!.has(digest.toString("latin1"));
  }

  /** Adds an item. @returns whether it is new */
  add(item: Item): boolean {
    const isNew = !this.has(item);
    if (isNew) this.#add(digestOfItem(item));
    return isNew;
  }

  /** Adds items by their digests, one after the other. */
  addDigests(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += digestBytes) {
      this.#add(bytes.subarray(at, at + digestBytes));
    }
  }

  /** Reads the items of a table; null for one that does not exist yet. */
  static async read(
    folder: string,
    table: TableInput | null,
    options: TableReadOptions,
  ): Promise<KnownItems> {
    const known = new KnownItems();
    const path = fileIn(folder);
    const fresh = `${path}.new`;
    const file = await open(fresh, "w", 0o600).catch(fault(path));
    let crc = 0;
    const write = async (bytes: Buffer): Promise<void> => {
      crc = crc32(bytes, crc);
      await file.writeFile(bytes).catch(fault(path));
    };
    try {
      await table?.read(
        {
          // Reading may start over; repeated items do no harm.
          begin: () => Promise.resolve(),
          rows: async (batch) => {
            const digests = batch.map(([kind = "", item = ""]) =>
              digestOf(cellOf(kind), cellOf(item)),
            );
            for (const digest of digests) known.#add(digest);
            await write(Buffer.concat(digests));
          },
        },
        options,
      );
      const trailer = Buffer.alloc(trailerBytes);
      trailer.writeUInt32LE(crc);
      await file.writeFile(trailer).catch(fault(path));
      await file.sync().catch(fault(path));
    } finally {
      await file.close();
    }
    await rename(fresh, path).catch(fault(path));
    return known;
  }

  /** Reads the items that the interrupted run found. @throws FatalError `copy_damaged` */
  static async restore(folder: string): Promise<KnownItems> {
    const path = fileIn(folder);
    const bytes = await readFile(path).catch(() => Buffer.alloc(0));
    const end = bytes.length - trailerBytes;
    if (
      end < 0 ||
      end % digestBytes > 0 ||
      crc32(bytes.subarray(0, end)) !== bytes.readUInt32LE(end)
    ) {
      throw new FatalError(
        "copy_damaged",
        `the list of known items is missing or damaged: ${path}`,
        {
          hint: "start over with --restart",
        },
      );
    }
    const known = new KnownItems();
    known.addDigests(bytes.subarray(0, end));
    return known;
  }

  #add(digest: Buffer): void {
    this.#sets[digest[0]!]!.add(digest.toString("latin1"));
  }
}

/** The items of the table that a run writes to. @throws as reading a table does */
export async function readKnownItems(
  { settings, signal, clock = systemClock, onWarning = () => undefined }: KnownItemsJob,
  rows: TableRows,
  folder: string,
): Promise<KnownItems> {
  const { prefix, onlyNew } = settings;
  const since = typeof onlyNew === "object" ? Math.max(0, clock.now() - onlyNew.ms) : null;
  const query = await rows.items({ prefix, since });
  const table = query === null ? null : await rows.input(query);
  const options = { signal, onWarning, clock };
  return KnownItems.read(folder, table, options);
}

type KnownItemsJob = Pick<EnrichJob, "signal" | "clock" | "onWarning"> & {
  readonly settings: Pick<SinkSettings, "prefix" | "onlyNew">;
};

/** The error for `--only-new` with another output. */
export function needsTable(name: string): UsageError {
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

function fault(path: string): (error: unknown) => never {
  return (error) => {
    throw outputFault(path, error);
  };
}
