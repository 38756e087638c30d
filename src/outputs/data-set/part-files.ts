import { existsSync } from "node:fs";
import { copyFile, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FatalError } from "../../core/errors.js";
import { startOver } from "../../core/error-codes/remedies.js";
import { syncFolder } from "../../core/files/make-folder.js";
import { formats } from "../../formats/registry.js";
import type { EncoderOptions } from "../../formats/types.js";
import { type Audit, auditOutput } from "../audit-output.js";
import { openFileDestination, partPath } from "../file-destination.js";
import { outputFault } from "../output-fault.js";
import { openParquet } from "../parquet/open-parquet.js";
import { readBack } from "../parquet/read-back.js";
import { textSink } from "../text-sink.js";
import type { PartFormat, PartOptions, Sink, SinkPosition } from "../types.js";
import type { WarehouseOptions } from "../warehouse/types.js";
import { partName } from "./data-set.js";

/** The files of a data set that is being written: in the state folder, numbered from 0. */
export class PartFiles {
  readonly #options: WarehouseOptions;
  readonly #parts: PartOptions;

  constructor(options: WarehouseOptions, parts: PartOptions) {
    this.#options = options;
    this.#parts = parts;
  }

  path(index: number): string {
    const { format, gzip } = this.#parts;
    return join(this.#folder, partName(index, format, gzip));
  }

  /**
   * Opens a part, at a position of an interrupted run or at its start.
   *
   * @throws FatalError `output_*`
   */
  async open(index: number, resume: SinkPosition | null): Promise<Sink> {
    const { format, gzip, encoder, wrapEncoder = (plain) => plain } = this.#parts;
    const path = this.path(index);
    const stateFolder = this.#sideFolder(index);
    try {
      await mkdir(format === "parquet" ? stateFolder : this.#folder, { recursive: true });
      // It was complete when the run was killed, but the checkpoint is older.
      if (resume !== null && !existsSync(partPath(path)) && existsSync(path)) {
        await rename(path, partPath(path));
      }
    } catch (error) {
      throw outputFault(path, error);
    }
    if (format === "parquet") {
      const target = { kind: "parquet", file: path, display: path, base: path } as const;
      return (await openParquet(target, { ...this.#options, stateFolder, resume })).sink;
    }
    const destination = await openFileDestination(path, resume);
    const resumeRows = resume?.rows ?? null;
    const writer = wrapEncoder(formats[format].write(encoder));
    return textSink(writer, destination, { gzip, resumeRows });
  }

  /** Removes what only an unfinished part needed. */
  async removeSideFiles(index: number): Promise<void> {
    await rm(this.#sideFolder(index), { recursive: true, force: true });
  }

  /** Reads a complete part back. @throws FatalError `output_corrupt` */
  async audit(index: number): Promise<Audit> {
    const { format, gzip, encoder } = this.#parts;
    return auditPart(this.path(index), {
      format,
      gzip,
      prefix: encoder.prefix,
      shape: encoder.shape,
      inputColumns: encoder.columns.length,
    });
  }

  /** Moves a part to its final path. Does nothing if that has happened. */
  async place(index: number, path: string): Promise<void> {
    const from = this.path(index);
    try {
      if (existsSync(from)) await move(from, path);
      else if (!existsSync(path)) throw gone(path);
    } catch (error) {
      throw error instanceof FatalError ? error : outputFault(path, error);
    }
  }

  get #folder(): string {
    return join(this.#options.stateFolder, "parts");
  }

  #sideFolder(index: number): string {
    return join(this.#folder, String(index));
  }
}

/** What tells how a part is read. */
export interface PartReading {
  readonly format: PartFormat;
  readonly gzip: boolean;
  readonly prefix: string;
  readonly shape: EncoderOptions["shape"];
  readonly inputColumns: number;
}

/** Reads a part and counts its rows. @throws FatalError `output_corrupt` */
export async function auditPart(path: string, { format, ...reading }: PartReading): Promise<Audit> {
  if (format === "parquet") return readBack(path, reading);
  return auditOutput(path, { format, ...reading }).catch((error: unknown) => {
    throw error instanceof FatalError ? error : outputFault(path, error);
  });
}

function gone(path: string): FatalError {
  const message = `the output of the finished run is missing: ${path}`;
  return new FatalError("output_gone", message, { hint: startOver });
}

/** Renames a file, or copies it to another file system. */
async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    const copy = partPath(to);
    await copyFile(from, copy);
    const handle = await open(copy, "r+");
    await handle.sync();
    await handle.close();
    await rename(copy, to);
    await syncFolder(dirname(to));
    await rm(from);
  }
}
