import { FatalError, UsageError } from "../../core/errors.js";
import { recogniseItem } from "../../core/item/recognise.js";
import { counted, shellWord } from "../../core/wording/quantity.js";
import { limits } from "../formats/reading/lines.js";

/** Bytes held back, so that most documents are refused before their first row is read. */
const heldBytes = 1024 * 1024;

/** Largest piece: the line ends of a row with many lines come all at once. */
const pieceBytes = 64 * 1024;

/**
 * Converts a JSON document into NDJSON: an array, or the only array of objects in an object. Values
 * keep their text, and rows keep their line where each begins on a line of its own.
 *
 * @param warnings gets one about items beside the rows
 * @throws UsageError `input_json_rows` for any other document
 * @throws FatalError `input_json` with line and column
 */
export async function* jsonLines(
  chunks: AsyncGenerator<Buffer>,
  name: string,
  warnings: string[],
): AsyncGenerator<Buffer> {
  const document = new JsonDocument(name);
  let held: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const lines = Buffer.from(document.read(chunk), "latin1");
    length += lines.length;
    for (let at = 0; at < lines.length; at += pieceBytes) {
      held.push(lines.subarray(at, at + pieceBytes));
    }
    if (length < heldBytes) continue;
    yield* held;
    held = [];
  }
  document.end();
  warnings.push(...document.passedOver());
  yield* held;
}

/** A value of the list of rows, as far as it is read. */
interface RowText {
  text: string;
  /** Its bytes, with spaces and line ends. */
  length: number;
  readonly line: number;
  readonly place: string;
}

/** Longest name or text beside the rows that is looked at. */
const mostText = 64 * 1024;

const tokens = /[^ \t\r\n"[\]{},]+|[ \t\r]+|[^]/y;
/** Within a row, whole texts and what is between them, with single spaces. */
const rowTokens =
  /(?:[^ \t\r\n"[\]{}]|"(?:[^"\\\r\n]|\\[^\r\n])*")(?:[^ \t\r\n"[\]{}]| (?=[^ \t\r\n])|"(?:[^"\\\r\n]|\\[^\r\n])*")*|[ \t\r]+|[^]/y;
const textPieces = /[^"\\\r\n]+|[^]/y;

/**
 * Finds where the rows of a JSON document begin and end: they are what commas separate in its list.
 * Bytes are characters here.
 */
class JsonDocument {
  readonly #name: string;
  /** Brackets that are open. */
  readonly #open: string[] = [];
  #isOver = false;
  /** Depth of the list of rows while it is open; else 0. */
  #rowsDepth = 0;
  /** Name of the list; null until it is found. */
  #list: string | null = null;
  /** A list in an object whose first value is not known yet. */
  #isUndecided = false;
  #emptyLists = 0;
  #rows = 0;
  /** Null between two rows. */
  #row: RowText | null = null;
  #hasGap = false;
  #inText = false;
  #isEscaped = false;
  /** The text that is read beside the rows, and the one before. */
  #text = "";
  #before = "";
  #itemsBeside = 0;
  #firstBeside = "";
  #line = 1;
  #lineStart = 0;
  #at = 0;
  #linesWritten = 0;
  #out = "";

  constructor(name: string) {
    this.#name = name;
  }

  /** The rows that end in a chunk, as lines. */
  read(chunk: Buffer): string {
    const bytes = chunk.toString("latin1");
    this.#out = "";
    for (let at = 0; at < bytes.length;) {
      const isInRow = this.#row !== null && this.#open.length > this.#rowsDepth;
      const pattern = this.#inText ? textPieces : isInRow ? rowTokens : tokens;
      pattern.lastIndex = at;
      pattern.test(bytes);
      const token = bytes.slice(at, this.#isEscaped ? at + 1 : pattern.lastIndex);
      if (this.#inText) this.#readText(token);
      else if (token.trim() === "") this.#readSpace(token);
      else this.#readToken(token);
      at += token.length;
      this.#at += token.length;
    }
    if (this.#row === null) this.#writeLinesBefore(this.#line);
    return this.#out;
  }

  /** Checks that the document is complete. */
  end(): void {
    if (this.#row !== null)
      throw this.#fault(`it ends inside the value that begins on ${this.#row.place}`);
    if (!this.#isOver) throw this.#fault("it ends before its last bracket is closed");
    if (this.#list === null && this.#emptyLists !== 1) throw this.#notRows(noList);
  }

  /** What to say about the items that are in no row. */
  passedOver(): readonly string[] {
    if (this.#itemsBeside === 0) return [];
    const where = `beside the list of rows of ${this.#name}, such as ${this.#firstBeside}`;
    return [
      `not looked up: ${counted(this.#itemsBeside, "item")} ${where}; to find all: ${this.#command()}`,
    ];
  }

  #readText(token: string): void {
    // Any other control character spoils the row alone.
    if (token === "\n" || token === "\r") throw this.#fault("a text is not closed on its line");
    this.#addToRow(token);
    if (this.#isEscaped || token === "\\") this.#isEscaped = !this.#isEscaped;
    else if (token === '"') this.#inText = false;
    if (this.#row !== null) return;
    this.#text = this.#inText ? (this.#text + token).slice(0, mostText) : textOf(this.#text);
    if (this.#inText) return;
    if (this.#open.length === 1 && `${this.#before} ${this.#text}` === "type bundle") {
      throw this.#notRows("a STIX bundle");
    }
    const isList = recogniseItem(this.#text).reason?.code === "several";
    for (const piece of isList ? this.#text.split(/[\s,;|]+/) : [this.#text]) {
      const { item } = recogniseItem(piece);
      // URLs beside the rows lead to other pages of the answer, and to reports.
      if (item === null || item.kind === "url") continue;
      this.#firstBeside ||= item.value;
      this.#itemsBeside += 1;
    }
  }

  #readSpace(token: string): void {
    this.#addToRow("", token.length);
    this.#hasGap = true;
    if (token !== "\n") return;
    this.#line += 1;
    this.#lineStart = this.#at + 1;
  }

  #readToken(token: string): void {
    if (this.#isOver) {
      if (this.#list === null && token === "{")
        throw this.#notRows("several JSON documents", "put each on a line: jq -c .");
      throw this.#fault("the document has ended here, but more follows");
    }
    if (this.#isUndecided) this.#decide(token);
    if (this.#rowsDepth > 0 && this.#open.length === this.#rowsDepth) this.#readBetween(token);
    if (this.#hasGap) this.#addToRow(" ", 0);
    this.#hasGap = false;
    this.#addToRow(token);
    if (token === '"') {
      this.#inText = true;
      this.#before = this.#text;
      this.#text = "";
    } else if (token === "{" || token === "[") this.#enter(token);
    else if (token === "}" || token === "]") this.#close(token);
    else if (this.#open.length === 0) throw this.#notRows(noList);
  }

  /** Whether the list that begins holds the rows. */
  #decide(token: string): void {
    this.#isUndecided = false;
    if (token === "]") this.#emptyLists += 1;
    if (token !== "{") return;
    if (this.#list !== null) {
      throw this.#notRows(
        `JSON with several lists of objects ("${this.#list}" and "${this.#text}")`,
      );
    }
    this.#list = this.#text;
    this.#rowsDepth = 2;
  }

  /** Reads a token between the values of the list of rows. */
  #readBetween(token: string): void {
    const row = this.#row;
    if (token === "," || token === "]") {
      const isEmpty = token === "]" && this.#rows === 0;
      if (row !== null) this.#writeRow(row);
      else if (!isEmpty) throw this.#fault("a value is missing");
      this.#row = null;
      return;
    }
    if (row !== null) {
      if (/[}\]"]$/.test(row.text)) throw this.#fault("a comma is missing");
      return;
    }
    if (this.#rows === 0 && token !== "{" && token !== '"') {
      throw this.#notRows(token === "[" ? "a list of lists" : "a list without objects");
    }
    this.#rows += 1;
    this.#row = { text: "", length: 0, line: this.#line, place: this.#place() };
    this.#hasGap = false;
  }

  #addToRow(token: string, length = token.length): void {
    const row = this.#row;
    if (row === null) return;
    row.text += token;
    row.length += length;
    if (row.length <= limits.recordBytes) return;
    const what = `the value that begins on ${row.place} is longer than the limit of 16 MiB`;
    throw this.#fault(what, "a bracket that closes it may be missing: add it, or remove the value");
  }

  #writeRow({ text, line }: RowText): void {
    this.#writeLinesBefore(line);
    this.#out += `${text.startsWith('"') ? `{"item":${text}}` : text}\n`;
    this.#linesWritten += 1;
  }

  /** Writes as many line ends as were read, so that the next row keeps its line. */
  #writeLinesBefore(line: number): void {
    const missing = Math.max(0, line - 1 - this.#linesWritten);
    this.#out += "\n".repeat(missing);
    this.#linesWritten += missing;
  }

  #enter(bracket: string): void {
    const depth = this.#open.push(bracket);
    if (this.#row !== null || bracket !== "[") return;
    if (depth === 1) {
      this.#list = "";
      this.#rowsDepth = 1;
    } else if (depth === 2) {
      this.#isUndecided = true;
    }
  }

  #close(bracket: string): void {
    const right = this.#open.pop() === "[" ? "]" : "}";
    if (right !== bracket) throw this.#fault(`${bracket} stands where ${right} belongs`);
    // A nested text is not the value before a member at the top.
    this.#text = "";
    if (this.#open.length < this.#rowsDepth) this.#rowsDepth = 0;
    this.#isOver = this.#open.length === 0;
  }

  #place(): string {
    return `line ${this.#line}, column ${this.#at - this.#lineStart + 1}`;
  }

  #fault(what: string, hint?: string): FatalError {
    return new FatalError("input_json", `${this.#place()} of ${this.#name}: ${what}`, { hint });
  }

  #notRows(what: string, remedy = "find the items in it: repute extract"): UsageError {
    const message = `${this.#name} is ${what}; repute reads JSON with one list of objects`;
    return new UsageError("input_json_rows", message, { hint: this.#command(remedy) });
  }

  #command(reader = "repute extract"): string {
    const file = this.#name === "stdin" ? "FILE" : shellWord(this.#name);
    return `${reader} ${file} | repute enrich - -o OUT`;
  }
}

/** What a JSON text stands for, given its bytes. */
function textOf(bytes: string): string {
  const text = Buffer.from(bytes, "latin1").toString();
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text;
  }
}

const noList = "JSON without a list of objects";
