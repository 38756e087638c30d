import type { Row } from "../../core/row.js";
import type { CsvRecord } from "./csv-records.js";
import { knownKind } from "../known-kind.js";
import type { InputReading } from "../../inputs/types.js";

/** Records as rows: as many cells as there are columns, the surplus aside. */
export class CsvRowMaker {
  readonly #width: number;
  readonly #itemIndex: number;
  readonly #kindIndex: number;
  readonly #ownKinds: boolean;
  #number: number;

  constructor(
    columns: readonly string[],
    chosen: Pick<InputReading, "item" | "kind">,
    rowsBefore: number,
  ) {
    this.#width = columns.length;
    this.#itemIndex = chosen.item.index;
    this.#kindIndex = chosen.kind?.index ?? -1;
    this.#number = rowsBefore;
    this.#ownKinds = chosen.kind?.by === "neighbour";
  }

  make(records: readonly CsvRecord[]): readonly Row[] {
    return records.map((record) => this.#toRow(record));
  }

  #toRow({ cells, line, endLine, end }: CsvRecord): Row {
    this.#number += 1;
    let extra: string | null = null;
    if (cells.length > this.#width) {
      extra = surplus(cells.splice(this.#width));
    }
    while (cells.length < this.#width) cells.push("");
    const kindText = cells[this.#kindIndex] ?? "";
    return {
      number: this.#number,
      line,
      cells,
      extra,
      json: null,
      itemText: cells[this.#itemIndex] ?? "",
      kindText: this.#ownKinds ? knownKind(kindText) : kindText,
      fault: null,
      end,
      endLine,
    };
  }
}

/** Surplus cells up to the last one that is not empty, as a JSON array; null when all are. */
function surplus(cells: readonly string[]): string | null {
  const last = cells.findLastIndex((cell) => cell !== "");
  return last === -1 ? null : JSON.stringify(cells.slice(0, last + 1));
}
