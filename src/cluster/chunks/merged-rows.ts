import { decodeBytes } from "../../core/bytes.js";
import { addedColumns } from "../../core/columns.js";
import { countedVerdicts, findingStatuses } from "../../core/finding.js";
import { itemKinds } from "../../core/item/item.js";
import { formats } from "../../formats/registry.js";
import { splitLines } from "../../formats/record-splitter.js";
import type { Tally } from "../../run/tally.js";
import { leadingNames } from "../../outputs/sql/table-schema.js";
import { KnownItems } from "../../run/rows/known-items.js";
import type { WorkPlan } from "./work-plan.js";

/** What a row says of itself, by the name of the column. */
type TextOf = (column: string) => string;

/** Edits part of a file of rows, which may end within a row. A file ends with a whole one. */
type EditRows = (bytes: Buffer) => Buffer;

/**
 * Numbers the staged rows of all chunks, and with `--distinct` drops items that an earlier chunk has.
 * Null if the files of the chunks can be joined as they are.
 *
 * @param header of the files of text; null for staged rows
 * @param tally counts the rows that are dropped
 */
export function mergedRows(plan: WorkPlan, header: string | null, tally: Tally): EditRows | null {
  const { distinct = false, only } = plan.settings;
  if (!distinct && (header !== null || only === undefined)) return null;
  const seen = new KnownItems();
  const repeats = (text: TextOf): boolean => {
    const kind = itemKinds.find((known) => known === text("kind"));
    if (!distinct || kind === undefined || seen.add({ kind, value: text("item") })) return false;
    const status = findingStatuses.find((known) => known === text("status"));
    const verdict = countedVerdicts.find((known) => known === text("verdict"));
    tally.leave("distinct", status ?? "failed", verdict ?? "unknown");
    return true;
  };
  const { split, edit } =
    header === null ? stagedRows(plan, repeats) : textRows(plan, header, repeats);
  const splitter = split();
  return (bytes) => Buffer.concat(splitter.push(bytes).flatMap((record) => edit(record) ?? []));
}

function stagedRows({ columns, settings }: WorkPlan, repeats: (text: TextOf) => boolean) {
  const first = leadingNames.length + columns.length;
  const names = addedColumns({ only: settings.columns }).map(({ name }) => name);
  let written = 0;
  const edit = (record: Buffer): Buffer | null => {
    const cells = parsedOr(() => JSON.parse(record.toString()) as unknown[]);
    if (cells === null || repeats((name) => textIn(cells[first + names.indexOf(name)]))) {
      return null;
    }
    cells[1] = String(++written);
    return Buffer.from(`${JSON.stringify(cells)}\n`);
  };
  return { split: splitLines, edit };
}

function textRows({ settings }: WorkPlan, header: string, repeats: (text: TextOf) => boolean) {
  const { to, prefix } = settings;
  if (to === "parquet") throw new TypeError("rows of Parquet are staged");
  const format = formats[to];
  const edit = (record: Buffer): Buffer | null => {
    const text = decodeBytes(record);
    const read = parsedOr(() => format.earlier?.layout(header || text, prefix)?.read(text));
    return read === null || repeats((name) => read.text(name)) ? null : record;
  };
  return { split: () => format.split(), edit };
}

function textIn(cell: unknown): string {
  return typeof cell === "string" ? cell : "";
}

/** A damaged file is reported once its checksum is known. */
function parsedOr<T>(parse: () => T | null | undefined): T | null {
  try {
    return parse() ?? null;
  } catch {
    return null;
  }
}
