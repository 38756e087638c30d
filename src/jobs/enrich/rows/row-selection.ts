import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { verdictOf } from "../../../core/verdict.js";
import type { EnrichedRow, LeftOutReason, Row } from "../../../core/row.js";
import { openFileDestination } from "../../../io/output/file-destination.js";
import { partPath } from "../../../io/output/part-file.js";
import type { SinkSettings } from "../../../io/output/options.js";
import type { Destination, Sink, SinkPosition } from "../../../io/output/types.js";
import { digestOfItem, KnownItems } from "./known-items.js";
import type { StartRow } from "./row-handling.js";

/** Decides which rows are looked up and counted, but not written: `--only` and `--distinct`. */
export class RowSelection {
  readonly #only: ReadonlySet<string> | null;
  readonly #distinct: boolean;
  readonly #seen = new KnownItems();
  readonly #repeated = new WeakSet<Row>();
  #file: Destination | null = null;

  constructor({ only, distinct }: Pick<SinkSettings, "only" | "distinct">) {
    this.#only = only === undefined ? null : new Set(only);
    this.#distinct = distinct;
  }

  /** Why a row is not written; null if it is. */
  readonly reason = ({ row, finding }: EnrichedRow): LeftOutReason | null => {
    // First the answer: otherwise, the reasons would depend on how an input is divided.
    const names = [verdictOf(finding) ?? "unknown", finding.status];
    if (this.#only !== null && !names.some((name) => this.#only?.has(name))) return "only";
    return this.#repeated.has(row) ? "distinct" : null;
  };

  /** Notes, in the order of the input, which rows repeat an item or have none. */
  noting(start: StartRow): StartRow {
    if (!this.#distinct) return start;
    return (row, signal) => {
      const started = start(row, signal);
      const { item } = started;
      if (item === null || !this.#seen.add(item)) this.#repeated.add(row);
      return started;
    };
  }

  /**
   * The same sink without the rows that are left out. With `--distinct`, it keeps the items seen so far
   * in a file, so that a resumed run knows them.
   *
   * @param folder of the state; null for a run that cannot be resumed
   * @throws FatalError `output_*`
   */
  async sink(sink: Sink, folder: string | null, resume: SinkPosition | null): Promise<Sink> {
    if (this.#distinct && folder !== null) {
      const path = join(folder, "seen-items");
      const { length = 0, ...seen } = resume?.seen ?? {};
      this.#file = await openFileDestination(path, resume === null ? null : { length, ...seen });
      if (length > 0) this.#seen.addDigests((await readFile(partPath(path))).subarray(0, length));
    }
    let written = resume?.rows ?? 0;
    return {
      write: async (rows) => {
        await this.#note(rows);
        const kept = rows.filter((row) => this.reason(row) === null);
        const number = ({ row, item, finding }: EnrichedRow): EnrichedRow => ({
          row,
          item,
          finding,
          written: ++written,
        });
        await sink.write(kept.map(number));
      },
      checkpoint: async () => {
        const position = await sink.checkpoint();
        if (this.#file === null) return position;
        await this.#file.sync();
        const checksum = this.#file.checksum();
        const seen = { length: this.#file.length, ...(checksum && { checksum }) };
        return { ...position, seen };
      },
      finish: async (suffix, manifest) => {
        await this.#file?.abandon();
        return sink.finish(suffix, manifest);
      },
      abandon: async () => {
        await this.#file?.abandon();
        await sink.abandon();
      },
    };
  }

  /** Only rows that a checkpoint counts as read are kept as seen: the others are read again. */
  async #note(rows: readonly EnrichedRow[]): Promise<void> {
    if (this.#file === null) return;
    const digests = rows.flatMap(({ row, item }) =>
      item === null || this.#repeated.has(row) ? [] : [digestOfItem(item)],
    );
    if (digests.length > 0) await this.#file.write(Buffer.concat(digests));
  }
}
