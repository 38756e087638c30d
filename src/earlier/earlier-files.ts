import { stat } from "node:fs/promises";
import { FatalError } from "../core/errors.js";
import { counted } from "../core/text/quantity.js";
import type { OpenedSource, SourcePosition } from "../inputs/types.js";
import type { EarlierForm, EarlierRow, FileRows, Place } from "./earlier-row.js";
import type { OutputFile, OutputFiles } from "./output-files.js";

export async function openForm(
  set: OutputFiles,
  prefix: string,
  only?: readonly string[],
): Promise<EarlierForm> {
  if (set.format === "parquet") {
    return (await import("./parquet-form.js")).formOfParquet(set, { prefix, only });
  }
  return (await import("./text-form.js")).formOfText(set, set.format, prefix);
}

/** Opens the rows of all files, one file after the other. Positions count rows. */
export async function openFiles(
  { files }: OutputFiles,
  form: EarlierForm,
  resume: SourcePosition | null,
): Promise<OpenedSource> {
  let bytesTotal = 0;
  for (const { path, part } of files) {
    const { size } = await stat(path);
    bytesTotal += size;
    if (part === null || size === part.bytes) continue;
    throw corrupt(`${path} has ${size} bytes, and its manifest says ${part.bytes}`);
  }
  const isSingle = files[0]?.part === null;
  const before = isSingle ? { before: resume?.input ?? null } : {};
  const place: Place = { row: resume?.row ?? 0, end: resume?.offset ?? 0 };
  let current: FileRows | null = null;
  let bytesBefore = 0;
  const rows = async function* (): AsyncGenerator<readonly EarlierRow[]> {
    let first = 0;
    for (const file of files) {
      const { path, part } = file;
      const end = part === null ? Number.POSITIVE_INFINITY : first + part.rows;
      if (place.row < end) {
        const opened = await form.open(file, { place, skip: place.row - first, ...before });
        current = opened;
        yield* opened.rows;
        await opened.close();
        if (part !== null && place.row !== end) {
          const found = counted(place.row - first, "row");
          throw corrupt(`${path} has ${found}, and its manifest says ${part.rows}`);
        }
        current = isSingle ? opened : null;
      }
      first = end;
      bytesBefore += part?.bytes ?? 0;
    }
  };
  return {
    columns: form.columns,
    types: form.types,
    kind: form.kind,
    reading: form.reading,
    rows: rows(),
    bytesTotal,
    bytesRead: () => bytesBefore + (current?.bytesRead() ?? 0),
    checksum: () => (isSingle ? current?.checksum() : undefined),
    warnings: new Map(),
    close: async () => current?.close(),
  };
}

export async function* rowsOf(
  file: OutputFile,
  form: EarlierForm,
): AsyncGenerator<readonly EarlierRow[]> {
  const opened = await form.open(file, { place: { row: 0, end: 0 }, skip: 0 });
  try {
    yield* opened.rows;
  } finally {
    await opened.close();
  }
}

function corrupt(what: string): FatalError {
  return new FatalError("output_corrupt", what, { hint: "restore the data set from a copy" });
}
