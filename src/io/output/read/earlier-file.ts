import { stat } from "node:fs/promises";
import type { OpenedSource, SourcePosition } from "../../input/types.js";
import type { EarlierForm, EarlierRow } from "./earlier-row.js";
import type { OutputFile } from "./output-file.js";

export async function openForm(
  file: OutputFile,
  prefix: string,
  only?: readonly string[],
): Promise<EarlierForm> {
  const { format } = file;
  if (format === "parquet") {
    return (await import("./parquet-form.js")).formOfParquet(file.path, { prefix, only });
  }
  return (await import("./text-form.js")).formOfText(file, format, prefix);
}

/** Opens the rows of an output. Positions count rows. */
export async function openRows(
  { path }: OutputFile,
  form: EarlierForm,
  resume: SourcePosition | null,
): Promise<OpenedSource> {
  const { size: bytesTotal } = await stat(path);
  const place = { row: resume?.row ?? 0, end: resume?.offset ?? 0 };
  const { columns, types, kind, reading } = form;
  const opened = await form.open(place, resume?.input ?? null);
  return { columns, types, kind, reading, bytesTotal, warnings: new Map(), ...opened };
}

export async function* rowsOf(form: EarlierForm): AsyncGenerator<readonly EarlierRow[]> {
  const opened = await form.open({ row: 0, end: 0 });
  try {
    yield* opened.rows;
  } finally {
    await opened.close();
  }
}
