import { existsSync } from "node:fs";
import { copyFile, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FatalError } from "../../core/errors.js";
import { syncFolder } from "../../core/files/make-folder.js";
import { formats } from "../../formats/registry.js";
import { type DataSetTarget, namedParts, partName, withSuffix } from "../data-set/data-set.js";
import { checkWritable, openFileDestination } from "../file-destination.js";
import { outputGone, partPath, readWritten } from "../part-file.js";
import { outputFault } from "../output-fault.js";
import { type Stage, stageEncoder, type StagedRow } from "../stage.js";
import { textWriter } from "../text-sink.js";
import type { PartRecord } from "../../core/manifest/manifest.js";
import type { Destination, PartOptions, WrittenFile, WrittenOutput } from "../types.js";
import { loadedRows } from "../warehouse/row-cells.js";
import { parquetForm, parquetWriter, type RowWriter } from "./parquet.js";
import type { Publication, PublicationOptions } from "../publication.js";

/**
 * Prepares to publish a data set. Its parts are made in the state folder and moved to their folder
 * before the manifest that names them.
 */
export async function publishDataSet(
  { base }: DataSetTarget,
  options: PublicationOptions,
): Promise<Publication> {
  const { parts, runId, stateFolder } = options;
  if (parts === undefined) throw new TypeError("a data set needs a format");
  const folder = join(stateFolder, "parts");
  const pathOf = (index: number): string => join(folder, partName(index, parts.format, parts.gzip));
  const form =
    parts.format === "parquet" ? await parquetParts(options) : textParts(parts.format, parts);
  const place = [base, dirname(base)].find((path) => existsSync(path));
  if (place !== undefined) await checkWritable(place, base);
  let records = options.finished ?? null;
  return {
    encoder: form.encoder,
    columns: form.columns,
    warnings: form.warnings ?? [],
    takesParts: false,
    async prepare(stage) {
      await emptyFolder(folder);
      const written = await writeParts(stage, parts.rows, form, pathOf);
      const prepared = await nameParts(base, { ...parts, id: parts.id ?? runId }, written);
      records = prepared.parts;
      return prepared;
    },
    async commit(_, suffix) {
      if (records === null) throw new TypeError("prepare a data set before committing it");
      const to = withSuffix(base, suffix);
      await mkdir(to, { recursive: true }).catch((error: unknown) => {
        throw outputFault(to, error);
      });
      for (const [index, { name }] of records.entries()) {
        await placePart(pathOf(index), join(to, name));
      }
      await syncFolder(to);
      await syncFolder(dirname(to));
    },
  };
}

interface PartsForm extends Pick<Publication, "encoder" | "columns" | "warnings"> {
  rowsOf(stage: Stage): AsyncGenerator<readonly StagedRow[]>;
  writerOf(destination: Destination): RowWriter | Promise<RowWriter>;
}

async function parquetParts(options: PublicationOptions): Promise<PartsForm> {
  const form = await parquetForm(options);
  return {
    ...form,
    rowsOf: (stage) => loadedRows(stage, form.published, options.clock),
    writerOf: (destination) => parquetWriter(destination, form),
  };
}

/** A row of text is staged as one cell. */
function textParts(
  format: Exclude<PartOptions["format"], "parquet">,
  { encoder: encoding, wrapEncoder = (plain) => plain, gzip }: PartOptions,
): PartsForm {
  const encoder = wrapEncoder(formats[format].write(encoding));
  return {
    encoder: stageEncoder((row) => [encoder.encode([row])]),
    columns: [{ type: "text" }],
    rowsOf: (stage) => stage.rows(),
    writerOf(destination) {
      const writer = textWriter(destination, gzip);
      writer.add(encoder.header);
      return {
        async add([text]) {
          writer.add(text as string);
          if (writer.full) await writer.flush();
        },
        end: () => writer.flush(),
      };
    },
  };
}

async function emptyFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder);
  } catch (error) {
    throw outputFault(folder, error);
  }
}

/** A part that is written. */
type WrittenPart = WrittenFile & { readonly rows: number };

/** Cuts the rows into parts. Without rows, one part tells the columns. */
async function writeParts(
  stage: Stage,
  rowsPerPart: number,
  form: PartsForm,
  pathOf: (index: number) => string,
): Promise<readonly WrittenPart[]> {
  const written: WrittenPart[] = [];
  let rows = 0;
  const openPart = async () => {
    const path = pathOf(written.length);
    const file = await openFileDestination(path, null);
    return { path, file, ...(await form.writerOf(file)) };
  };
  let part: Awaited<ReturnType<typeof openPart>> | null = await openPart();
  const finish = async (): Promise<void> => {
    if (part === null) return;
    const { path, file } = part;
    await part.end();
    const { length } = file;
    written.push({ ...(await readWritten(path, { length, checksum: file.checksum() })), rows });
    await file.finish();
    part = null;
    rows = 0;
  };
  try {
    for await (const batch of form.rowsOf(stage)) {
      for (const row of batch) {
        part ??= await openPart();
        await part.add(row);
        if (++rows === rowsPerPart) await finish();
      }
    }
    await finish();
    return written;
  } catch (error) {
    await part?.file.abandon();
    throw error;
  }
}

async function nameParts(
  base: string,
  { format, gzip, id }: PartOptions,
  written: readonly WrittenPart[],
): Promise<WrittenOutput & { readonly parts: readonly PartRecord[] }> {
  const earlier = await namedParts(base);
  const parts = written.map((part, index): PartRecord => {
    const next = partName(index, format, gzip, id);
    return { name: keptName(earlier[index], { name: next, sha256: part.sha256 }) ?? next, ...part };
  });
  const sum = (what: "bytes" | "rows"): number =>
    written.reduce((total, part) => total + part[what], 0);
  return { bytes: sum("bytes"), sha256: null, rows: sum("rows"), parts };
}

/** Moves a part to its final path. Does nothing if that has happened. */
async function placePart(from: string, path: string): Promise<void> {
  try {
    if (existsSync(from)) await move(from, path);
    else if (!existsSync(path)) throw outputGone(path);
  } catch (error) {
    throw error instanceof FatalError ? error : outputFault(path, error);
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
