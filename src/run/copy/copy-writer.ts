import { type FileHandle, open } from "node:fs/promises";
import { type ChecksumState, RunningChecksum } from "../../core/files/running-checksum.js";
import { outputFault } from "../../outputs/output-fault.js";
import type { InputType } from "../../formats/typed-column.js";
import type { TableReceiver } from "../../outputs/tables/types.js";
import { cellOf, type InputValue, jsonOf } from "../../outputs/tables/values.js";
import type { CopyForm } from "../rows/row-handling.js";

/** What a copy holds. */
export interface CopySeal {
  readonly rows: number;
  readonly types: readonly InputType[];
  readonly content: ChecksumState;
}

/** Name of the file that holds it, beside the copy. */
export const copySeal = "input.json";

/** Stands for an empty text in a TSV copy; an empty cell is null there. */
export const emptyText = "\0";

/** Characters collected before they are written. */
const blockCharacters = 256 * 1024;

export class CopyWriter implements TableReceiver {
  readonly #path: string;
  readonly #form: CopyForm;
  #file: FileHandle | null = null;
  #checksum = new RunningChecksum();
  #rows = 0;
  #types: readonly InputType[] = [];
  #text = "";
  #encode: (row: readonly InputValue[]) => string = () => "";

  constructor(path: string, form: CopyForm) {
    this.#path = path;
    this.#form = form;
  }

  async begin(columns: readonly string[], types: readonly InputType[]): Promise<void> {
    await this.close();
    this.#file = await this.#fault(open(this.#path, "w", 0o600));
    this.#checksum = new RunningChecksum();
    this.#rows = 0;
    this.#types = types;
    const { format, keepsNulls } = this.#form;
    this.#encode = format === "tsv" ? tsvRow(keepsNulls ? emptyText : "") : objectRow(columns);
    this.#text = format === "tsv" ? `${columns.map(quoted).join("\t")}\n` : "";
  }

  async rows(batch: readonly (readonly InputValue[])[]): Promise<void> {
    for (const row of batch) {
      this.#text += this.#encode(row);
      if (this.#text.length >= blockCharacters) await this.#write();
    }
    this.#rows += batch.length;
  }

  /** Makes the file durable. */
  async finish(): Promise<CopySeal> {
    await this.#write();
    await this.#fault(this.#file?.sync() ?? Promise.resolve());
    await this.close();
    return { rows: this.#rows, types: this.#types, content: this.#checksum.state() };
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }

  async #write(): Promise<void> {
    const bytes = Buffer.from(this.#text);
    this.#text = "";
    this.#checksum.update(bytes);
    await this.#fault(this.#file?.writeFile(bytes) ?? Promise.resolve());
  }

  #fault<T>(work: Promise<T>): Promise<T> {
    return work.catch((error: unknown) => {
      throw outputFault(this.#path, error);
    });
  }
}

/** One line per row; an empty one would count as blank. */
function tsvRow(empty: string): (row: readonly InputValue[]) => string {
  const cell = (value: InputValue): string => {
    if (value === null) return "";
    if (value === "") return empty;
    const text = typeof value === "string" ? value : cellOf(value);
    return /["\t\r\n]|^\s|\s$/.test(text) ? quoted(text) : text;
  };
  return (row) => {
    const text = row.map(cell).join("\t");
    return text === "" ? '""\n' : `${text}\n`;
  };
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** A member per column. A repeated name gets a number. */
function objectRow(columns: readonly string[]): (row: readonly InputValue[]) => string {
  const names = uniqueNames(columns).map((name) => `${JSON.stringify(name)}:`);
  return (row) => `{${names.map((name, at) => name + jsonOf(row[at] ?? null)).join(",")}}\n`;
}

function uniqueNames(columns: readonly string[]): readonly string[] {
  const used = new Set(columns);
  return columns.map((name, index) => {
    if (columns.indexOf(name) === index) return name;
    let n = 2;
    while (used.has(`${name}_${n}`)) n++;
    used.add(`${name}_${n}`);
    return `${name}_${n}`;
  });
}
