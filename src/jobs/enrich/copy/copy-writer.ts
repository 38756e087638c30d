import { type FileHandle, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { startOver } from "../../../core/remedies.js";
import { FatalError } from "../../../core/errors.js";
import { openSealedJson, replaceFile, sealJson } from "../../../core/files/json-file.js";
import { counted } from "../../../core/text/quantity.js";
import { verifyInput } from "../../../io/input/verify-input.js";
import { type ChecksumState, RunningChecksum } from "../../../core/files/running-checksum.js";
import { outputFault } from "../../../io/output/output-fault.js";
import type { InputType } from "../../../io/formats/typed-column.js";
import { uniqueNames } from "../../../io/formats/ndjson/ndjson-writer.js";
import type { TableInput, TableReceiver } from "../../../io/output/tables/types.js";
import { cellOf, type InputValue, jsonOf } from "../../../io/output/tables/values.js";
import type { CopyForm, CopyFormat, CopyPlace } from "../rows/row-handling.js";

/** What a copy holds. */
interface CopySeal {
  readonly rows: number;
  readonly types: readonly InputType[];
  readonly content: ChecksumState;
}

/** Name of the file that holds it, beside the copy. */
const copySeal = "input.json";

/** Stands for an empty text in a TSV copy; an empty cell is null there. */
export const emptyText = "\0";

/** Characters collected before they are written. */
const blockCharacters = 256 * 1024;

class CopyWriter implements TableReceiver {
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

/** Copies a table, or checks the copy that the interrupted run made. @throws ReputeError */
export function copyOnce(table: TableInput, place: CopyPlace, isResumed: boolean): Promise<void> {
  return isResumed ? checkCopy(table, place) : makeCopy(table, place);
}

/** Path of a copy. */
export function copyPath(folder: string, format: CopyFormat): string {
  return join(folder, `input.${format}`);
}

async function makeCopy(table: TableInput, place: CopyPlace): Promise<void> {
  const { folder, format, signal, clock, onWarning = () => undefined, onNotice } = place;
  const path = copyPath(folder, format);
  const writer = new CopyWriter(`${path}.new`, place);
  let seal: CopySeal;
  try {
    const options = { signal, folder, onWarning, ...(clock === undefined ? {} : { clock }) };
    await table.read(writer, options);
    seal = await writer.finish();
  } catch (error) {
    await writer.close();
    await rm(`${path}.new`, { force: true });
    throw signal.aborted ? signal.reason : error;
  }
  try {
    await rename(`${path}.new`, path);
    await replaceFile(join(folder, copySeal), sealJson({ ...seal }), 0o600);
  } catch (error) {
    throw outputFault(path, error);
  }
  onNotice?.(`read ${counted(seal.rows, "row")} from ${table.name}`);
}

/** What is known of a copy; null if it is incomplete. */
export async function readSeal(folder: string): Promise<Partial<CopySeal> | null> {
  return readFile(join(folder, copySeal), "utf8").then(openSealedJson, () => null);
}

/** Checks the copy that an interrupted run made. @throws FatalError `copy_damaged` */
async function checkCopy({ name }: TableInput, { folder, format }: CopyPlace): Promise<void> {
  const path = copyPath(folder, format);
  const { content } = (await readSeal(folder)) ?? {};
  const damaged = (what: string, cause?: unknown): FatalError =>
    new FatalError("copy_damaged", `the copy of ${name} ${what}: ${path}`, {
      cause,
      hint: startOver,
    });
  if (content === undefined) throw damaged("is incomplete");
  const handle = await open(path, "r").catch((error: unknown) => {
    throw damaged("cannot be opened", error);
  });
  try {
    if ((await handle.stat()).size !== content.bytes) throw damaged("has another length");
    await verifyInput({ name: path, handle }, content, 0);
  } catch (error) {
    if (!(error instanceof FatalError) || error.code === "copy_damaged") throw error;
    throw damaged("is damaged", error);
  } finally {
    await handle.close();
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
