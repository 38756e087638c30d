import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FatalError } from "../../core/errors.js";
import { startOver } from "../../core/error-codes/remedies.js";
import { syncFolder } from "../../core/files/make-folder.js";
import { type EnrichedRow, RowCounter } from "../../core/row.js";
import { outputFault } from "../output-fault.js";
import type { PartRecord, PartSum, Sink, SinkPosition, SinkResult } from "../types.js";
import type { OpenedWarehouse, WarehouseAudit, WarehouseOptions } from "../warehouse/types.js";
import { type DataSetTarget, namedParts, partName, withSuffix } from "./data-set.js";
import { PartFiles } from "./part-files.js";

/**
 * Opens a data set as output. Its parts are written in the state folder and moved to their folder
 * at the end, before the manifest that names them.
 *
 * @throws FatalError `output_*`
 */
export async function openDataSet(
  target: DataSetTarget,
  options: WarehouseOptions,
): Promise<OpenedWarehouse> {
  if (options.parts === undefined) throw new TypeError("a data set needs a format");
  const sink = new DataSetSink(target, options, options.parts);
  return { sink, note: null, audit: () => sink.audit() };
}

/** A part that is being written. */
interface OpenPart {
  readonly sink: Sink;
  rows: number;
}

class DataSetSink implements Sink {
  readonly #base: string;
  readonly #id: string;
  /** The parts under their final names, once these are decided. */
  #records: readonly PartRecord[] | null;
  readonly #format: NonNullable<WarehouseOptions["parts"]>;
  readonly #files: PartFiles;
  /** The complete parts. */
  readonly #sums: PartSum[];
  #rows: number;
  #open: OpenPart | null = null;
  /** Where the unfinished part of an interrupted run continues. */
  #resume: SinkPosition | null;
  /** The position before the last part was completed. */
  #beforeEnd: SinkPosition | null = null;
  /** Complete parts at the last two checkpoints; a resume continues from one of them. */
  #recent: readonly [before: number, last: number];
  /** The first part that may still have side files. */
  #swept = 0;

  constructor(
    { base }: DataSetTarget,
    options: WarehouseOptions,
    parts: NonNullable<WarehouseOptions["parts"]>,
  ) {
    const { resume } = options;
    this.#base = base;
    this.#id = parts.id ?? options.runId;
    this.#records = options.finished ?? null;
    this.#format = parts;
    this.#files = new PartFiles(options, parts);
    this.#sums = [...(resume?.parts ?? [])];
    this.#rows = resume?.rows ?? 0;
    const rows = this.#rows - this.#sums.length * parts.rows;
    const { parts: _parts, rejects: _rejects, ...position } = resume ?? { length: 0, rows: 0 };
    this.#resume = rows === 0 ? null : { ...position, rows };
    this.#recent = [this.#sums.length, this.#sums.length];
  }

  async write(rows: readonly EnrichedRow[]): Promise<void> {
    for (let at = 0; at < rows.length;) {
      const part = await this.#part();
      const batch = rows.slice(at, at + this.#format.rows - part.rows);
      await part.sink.write(batch);
      part.rows += batch.length;
      this.#rows += batch.length;
      at += batch.length;
      if (part.rows === this.#format.rows) await this.#endPart(part);
    }
  }

  async checkpoint(): Promise<SinkPosition> {
    if (this.#beforeEnd !== null) return this.#beforeEnd;
    for (; this.#swept < this.#recent[0]; this.#swept++) {
      await this.#files.removeSideFiles(this.#swept);
    }
    this.#recent = [this.#recent[1], this.#sums.length];
    const within = this.#open === null ? this.#resume : await this.#open.sink.checkpoint();
    const position = within ?? { length: 0 };
    return { ...position, rows: this.#rows, parts: [...this.#sums] };
  }

  /** Completes the last part, reads all of them back and decides on their names. */
  async audit(): Promise<WarehouseAudit> {
    this.#beforeEnd ??= await this.checkpoint();
    // Without rows, one part tells the columns.
    if (this.#resume !== null || (this.#rows === 0 && this.#sums.length === 0)) await this.#part();
    if (this.#open !== null) await this.#endPart(this.#open);
    const earlier = await namedParts(this.#base);
    const { format, gzip } = this.#format;
    const records: PartRecord[] = [];
    const total = new RowCounter();
    for (const [index, sum] of this.#sums.entries()) {
      const found = await this.#files.audit(index);
      const { rows, bytes, sha256, crc } = found;
      if (bytes !== sum.bytes || crc !== sum.crc) throw damaged(this.#files.path(index));
      total.add(found);
      const next = partName(index, format, gzip, this.#id);
      const name = keptName(earlier[index], { name: next, sha256 }) ?? next;
      records.push({ name, bytes, rows: rows ?? 0, sha256: sha256 ?? "" });
    }
    this.#records = records;
    const bytes = records.reduce((sum, part) => sum + part.bytes, 0);
    return { bytes, sha256: null, ...total.found(), parts: records };
  }

  /** Moves the parts to their folder. Each may already be there. */
  async finish(suffix = ""): Promise<SinkResult> {
    const folder = withSuffix(this.#base, suffix);
    const parts = this.#records;
    if (parts === null) throw new TypeError("audit a data set before finishing it");
    try {
      await mkdir(folder, { recursive: true });
    } catch (error) {
      throw outputFault(folder, error);
    }
    for (const [index, { name }] of parts.entries()) {
      await this.#files.place(index, join(folder, name));
    }
    await syncFolder(folder);
    await syncFolder(dirname(folder));
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
    return { path: folder, bytes, rows: this.#rows };
  }

  async abandon(): Promise<void> {
    await this.#open?.sink.abandon();
  }

  async #part(): Promise<OpenPart> {
    const resume = this.#resume;
    if (this.#open === null) {
      const sink = await this.#files.open(this.#sums.length, resume);
      this.#open = { sink, rows: resume?.rows ?? 0 };
    }
    this.#resume = null;
    return this.#open;
  }

  async #endPart({ sink }: OpenPart): Promise<void> {
    const { bytes, crc = 0 } = await sink.finish();
    this.#sums.push({ bytes, crc });
    this.#open = null;
  }
}

/** The name of the file that a part would replace, if their contents are the same; else null. */
function keptName(
  earlier: PartRecord | undefined,
  { name, sha256 }: { readonly name: string; readonly sha256: string | null },
): string | null {
  if (earlier === undefined || sha256 === null || earlier.sha256 !== sha256) return null;
  const formOf = (part: string): string => part.slice(part.indexOf("."));
  return formOf(earlier.name) === formOf(name) ? earlier.name : null;
}

function damaged(path: string): FatalError {
  const message = `${path} has changed since it was written`;
  return new FatalError("output_part_damaged", message, { hint: startOver });
}
