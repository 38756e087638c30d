import { existsSync } from "node:fs";
import { copyFile, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FatalError } from "../../core/errors.js";
import { syncFolder } from "../../core/files/make-folder.js";
import { RowCounter } from "../../core/row.js";
import { formats } from "../../formats/registry.js";
import { type DataSetTarget, namedParts, partName, withSuffix } from "../data-set/data-set.js";
import { auditOutput } from "../audit-output.js";
import { checkWritable, openFileDestination, outputGone, partPath } from "../file-destination.js";
import { outputFault } from "../output-fault.js";
import { type Stage, stageEncoder, type StagedRow } from "../stage.js";
import { textWriter } from "../text-sink.js";
import type { PartRecord } from "../../core/manifest/manifest.js";
import type { Audit, Destination, PartOptions } from "../types.js";
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
      const count = await writeParts(stage, parts.rows, form, pathOf);
      const prepared = await nameParts(base, { ...parts, id: parts.id ?? runId }, pathOf, count);
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

/** Cuts the rows into parts. Without rows, one part tells the columns. @returns their number */
async function writeParts(
  stage: Stage,
  rowsPerPart: number,
  form: PartsForm,
  pathOf: (index: number) => string,
): Promise<number> {
  let count = 0;
  let rows = 0;
  const openPart = async () => {
    const file = await openFileDestination(pathOf(count++), null);
    return { file, ...(await form.writerOf(file)) };
  };
  let part: Awaited<ReturnType<typeof openPart>> | null = await openPart();
  const finish = async (): Promise<void> => {
    await part?.end();
    await part?.file.finish();
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
    return count;
  } catch (error) {
    await part?.file.abandon();
    throw error;
  }
}

async function nameParts(
  base: string,
  { format, gzip, id, encoder: { prefix, shape, columns } }: PartOptions,
  pathOf: (index: number) => string,
  count: number,
): Promise<Audit & { readonly parts: readonly PartRecord[] }> {
  const earlier = await namedParts(base);
  const parts: PartRecord[] = [];
  const total = new RowCounter();
  for (let index = 0; index < count; index++) {
    const reading = { format, gzip, prefix, shape, inputColumns: columns.length };
    const found = await auditOutput(pathOf(index), reading);
    total.add(found);
    const next = partName(index, format, gzip, id);
    const name = keptName(earlier[index], { name: next, sha256: found.sha256 }) ?? next;
    const { bytes, rows, sha256 } = found;
    parts.push({ name, bytes: bytes ?? 0, rows: rows ?? 0, sha256: sha256 ?? "" });
  }
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  return { bytes, sha256: null, ...total.found(), parts };
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
