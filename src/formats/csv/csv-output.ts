import { columns, columnsAt, schemaVersion } from "../../core/columns.js";
import { countRows } from "../row-facts.js";
import type {
  CountOptions,
  Delimiter,
  EarlierFormat,
  EarlierLayout,
  RecordCounter,
} from "../types.js";
import { scanCells } from "./scan-cells.js";

/** Counts the rows of an output by status and verdict. */
export function countCsv(delimiter: Delimiter, options: CountOptions): RecordCounter {
  const { inputColumns, hasVerdicts } = options;
  const cellOf = (name: string): number =>
    inputColumns + columns.findIndex((column) => column.name === name);
  const status = cellOf("status");
  const verdict = cellOf("verdict");
  let isHeader = true;
  return countRows(options, (record) => {
    if (isHeader) {
      isHeader = false;
      return null;
    }
    const most = hasVerdicts ? verdict + 1 : status + 1;
    const { cells } = scanCells(record.toString("latin1"), { delimiter }, most);
    return { status: cells[status], verdict: cells[verdict] || null };
  });
}

/** Reads the rows of an output again: its last columns must be ours. */
export function earlierCsv(delimiter: Delimiter): EarlierFormat {
  return {
    delimiter,
    header: true,
    layout: (header, prefix) => layoutOf(cellsOf(header, delimiter), delimiter, prefix),
  };
}

function layoutOf(
  names: readonly string[],
  delimiter: Delimiter,
  prefix: string,
): EarlierLayout | null {
  let version = schemaVersion;
  const namesAt = (): string[] => columnsAt(version).map(({ name }) => name);
  while (version > 0 && !endsWith(names, namesAt(), prefix)) version--;
  if (version === 0) return null;
  const added = namesAt();
  const width = names.length - added.length;
  const places = new Map(added.map((name, index) => [name, width + index]));
  return {
    inputColumns: names.slice(0, width),
    shape: "flat",
    schemaVersion: version,
    read(record) {
      const cells = cellsOf(record, delimiter);
      if (cells.length !== names.length) return null;
      const text = (name: string): string => cells[places.get(name) ?? -1] ?? "";
      return {
        text,
        list: (name) => (text(name) === "" ? [] : text(name).split("|")),
        cells: cells.slice(0, width),
        json: null,
        extra: text("extra") || null,
      };
    },
  };
}

function endsWith(names: readonly string[], added: readonly string[], prefix: string): boolean {
  const width = names.length - added.length;
  return width >= 0 && added.every((name, index) => names[width + index] === prefix + name);
}

/** The cells of a record that may end with a line end. */
function cellsOf(record: string, delimiter: Delimiter): readonly string[] {
  return scanCells(record.replace(/\r?\n$/, ""), { delimiter }).cells;
}
