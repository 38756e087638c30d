import { open } from "node:fs/promises";
import { UsageError } from "../../../core/errors.js";
import type { ColumnPlace, InputReading } from "../../formats/types.js";
import { verifyInput } from "../verify-input.js";
import type { FileInput, FilePosition, OpenedSource, SourcePosition } from "../types.js";
import { type KnownFile, SeveralSource, type SourceFile } from "./several-source.js";
import { columnName, othersNotice, shownColumns } from "../../formats/columns/name-columns.js";
import { skippedNotice } from "../../formats/csv/find-preamble.js";

/**
 * Opens several inputs as one. The header of each is read first, because the columns of the first
 * row are those of all files.
 * @param namesColumns whether rows say which item column is theirs
 * @throws UsageError `inputs_mixed`; as `openSource`
 */
export async function openSeveral(
  files: readonly SourceFile[],
  resume: SourcePosition | null,
  namesColumns: boolean,
): Promise<OpenedSource> {
  const known: KnownFile[] = [];
  try {
    for (const [index, file] of files.entries()) {
      known.push(await settle(file, resume?.files?.[index] ?? null));
      refuseMix(known);
    }
    const at = resume === null ? 0 : current(known, resume);
    for (const { input, position } of known.slice(0, at)) {
      if (input !== null) await mustBeAsRead(input, position);
    }
    const readings = known.map(({ position }) => position.reading);
    return new SeveralSource(known, commonReading(readings), {
      at,
      resume,
      namesColumns,
      notices: choiceNotices(known.map(({ position }) => position)),
    });
  } catch (error) {
    for (const { opened } of known) await opened?.close();
    throw error;
  }
}

/** Finds the layout of a file, unless an earlier session has. */
async function settle(file: SourceFile, saved: FilePosition | null): Promise<KnownFile> {
  if (saved !== null) return { ...file, position: saved, opened: null };
  const source = await file.open(null);
  const { columns, types, reading, kind, bytesTotal } = source;
  const known = { ...(kind !== undefined && { kind }), ...(types !== undefined && { types }) };
  const facts = { name: file.name, columns, reading, bytesTotal, ...known };
  const position = { ...facts, start: null, warnings: [] };
  if (file.input === null) return { ...file, position, opened: source };
  await source.close();
  return { ...file, position, opened: null };
}

/** The file in which an interrupted run stopped: the last one that begins before its row. */
function current(files: readonly KnownFile[], { row }: SourcePosition): number {
  const begins = ({ position }: KnownFile): boolean =>
    position.start !== null && position.start.row < row;
  return Math.max(0, files.findLastIndex(begins));
}

async function mustBeAsRead(file: FileInput, { name, input }: FilePosition): Promise<void> {
  if (input === undefined) return;
  const handle = await open(file.path);
  try {
    await verifyInput({ name, handle }, input, input.bytes);
  } finally {
    await handle.close();
  }
}

function refuseMix(files: readonly KnownFile[]): void {
  const isObjects = ({ position }: KnownFile): boolean => position.reading.format === "ndjson";
  const [first] = files;
  const other = files.find((file) => isObjects(file) !== isObjects(first!));
  if (first === undefined || other === undefined) return;
  const [objects, rows] = isObjects(first) ? [first, other] : [other, first];
  throw new UsageError(
    "inputs_mixed",
    `${objects.name} is NDJSON and ${rows.name} is ${rows.position.kind ?? rows.position.reading.format}: one run reads either objects or rows`,
    { hint: "run once for each kind, or convert one" },
  );
}

/** How the inputs are read as a whole: what they share, and CSV where they differ. */
function commonReading(readings: readonly InputReading[]): InputReading {
  const first = readings[0]!;
  const agree = (read: (reading: InputReading) => unknown): boolean =>
    readings.every((reading) => read(reading) === read(first));
  const isOneFormat = agree(({ format }) => format);
  return {
    format: isOneFormat ? first.format : "csv",
    delimiter: isOneFormat && agree(({ delimiter }) => delimiter) ? first.delimiter : ",",
    comment: null,
    spaced: false,
    header: readings.every(({ header }) => header === "none") ? "none" : "record",
    items: readings.find(({ items }) => items.length > 1)?.items ?? first.items,
    kind: null,
  };
}

const mostNamed = 3;

/** Tells which column each of several files uses: one line per column, the most frequent first. */
function choiceNotices(files: readonly FilePosition[]): readonly string[] {
  const byColumn = new Map<string, FilePosition[]>();
  for (const file of files) {
    const { items, format } = file.reading;
    if (format === "text") continue;
    const column = shownColumns(items);
    byColumn.set(column, [...(byColumn.get(column) ?? []), file]);
  }
  const groups = [...byColumn].toSorted(([, a], [, b]) => b.length - a.length);
  const skips = files.flatMap(({ name, reading }) => skippedNotice(reading, name) ?? []);
  const choices = groups.map(([column, group]) => {
    const where =
      group.length > mostNamed ? `${group.length} files` : group.map(({ name }) => name).join(", ");
    return `using column ${column} in ${where}${sampled(group)}`;
  });
  return [...skips, ...choices, ...othersIn(files)];
}

/** One line for the other columns with items, of all files. */
function othersIn(files: readonly FilePosition[]): readonly string[] {
  const chosen = new Map<string, ColumnPlace>();
  const rows = new Map<string, number>();
  let sampled = 0;
  for (const { items, others } of files.map(({ reading }) => reading)) {
    if (others === undefined) continue;
    for (const item of items) chosen.set(columnName(item), item);
    for (const column of others.columns) {
      const name = columnName(column);
      rows.set(name, (rows.get(name) ?? 0) + column.rows);
    }
    sampled += others.sampled;
  }
  const columns = Array.from(rows, ([name, found]) => ({ name, index: 0, rows: found }));
  const unchosen = columns.filter(({ name }) => !chosen.has(name));
  return unchosen.length === 0
    ? []
    : [othersNotice([...chosen.values()], { sampled, columns: unchosen })];
}

function sampled(group: readonly FilePosition[]): string {
  let cells = 0;
  let indicators = 0;
  for (const { reading } of group) {
    const [{ sample }] = reading.items;
    cells += sample?.cells ?? 0;
    indicators += sample?.indicators ?? 0;
  }
  return cells === 0 ? "" : ` (${indicators} of ${cells} sampled cells are indicators)`;
}
