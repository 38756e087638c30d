import { FatalError, UsageError } from "../../core/errors.js";
import { shellWord } from "../../core/wording/quantity.js";
import { limits } from "../formats/reading/lines.js";

/** Bytes held back, so that most documents are refused before their first row is read. */
const heldBytes = 1024 * 1024;

/** Largest piece: the line ends of a row with many lines come all at once. */
const pieceBytes = 64 * 1024;

/**
 * Converts a JSON document into NDJSON: an array, or the only array of objects in an object. Values
 * keep their text, and rows keep their line where each begins on a line of its own.
 *
 * @throws UsageError `input_json_rows` for any other document
 * @throws FatalError `input_json` with line and column
 */
export async function* jsonLines(
  chunks: AsyncGenerator<Buffer>,
  name: string,
): AsyncGenerator<Buffer> {
  const document = new JsonDocument(name);
  let held: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const lines = document.read(chunk);
    length += lines.length;
    for (let at = 0; at < lines.length; at += pieceBytes) {
      held.push(lines.subarray(at, at + pieceBytes));
    }
    if (length < heldBytes) continue;
    yield* held;
    held = [];
  }
  document.end();
  yield* held;
}

/** Bytes that structure a JSON document. */
const byte = {
  tab: 0x09,
  lineFeed: 0x0a,
  return: 0x0d,
  space: 0x20,
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  backslash: 0x5c,
  openList: 0x5b,
  closeList: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

function isBracket(code: number): boolean {
  return (
    code === byte.openList ||
    code === byte.closeList ||
    code === byte.openObject ||
    code === byte.closeObject
  );
}

/** A value of the list of rows. */
type RowKind = "object" | "text" | "scalar";

/** Longest name or text at the top that is looked at. */
const mostText = 100;

/** Reads a JSON document as the lines of NDJSON. */
class JsonDocument {
  readonly #name: string;
  /** Brackets that are open. */
  readonly #open: number[] = [];
  #isOver = false;
  /** Depth of the list of rows while it is open; else 0. */
  #rowsDepth = 0;
  /** Name of the list; null until it is found. */
  #list: string | null = null;
  /** A list in an object whose first value is not known yet. */
  #isUndecided = false;
  #emptyLists = 0;
  #rows = 0;
  #expects: "value" | "comma" = "value";
  #row: RowKind | null = null;
  #rowPlace = "";
  #inText = false;
  #isEscaped = false;
  /** Whether spaces end a number or word inside a row. */
  #inWord = false;
  #hasGap = false;
  /** The text that is read at the top of an object, and the one before. */
  #text = "";
  #before = "";
  #line = 1;
  /** Offset of the line, and of the chunk. */
  #lineStart = 0;
  #offset = 0;
  #at = 0;
  #linesWritten = 0;
  #out = Buffer.alloc(64);
  #length = 0;

  constructor(name: string) {
    this.#name = name;
  }

  /** The rows in a chunk, as lines. */
  read(chunk: Buffer): Buffer {
    this.#length = 0;
    for (let at = 0; at < chunk.length; at++) {
      this.#at = this.#offset + at;
      const code = chunk[at]!;
      if (this.#inText) this.#readText(code);
      else if (code === byte.lineFeed) this.#endLine();
      else if (code === byte.space || code === byte.tab || code === byte.return) this.#readSpace();
      else if (this.#rowsDepth > 0 && this.#open.length === this.#rowsDepth) this.#readRows(code);
      else this.#readValue(code);
    }
    this.#offset += chunk.length;
    return Buffer.from(this.#out.subarray(0, this.#length));
  }

  /** Checks that the document is complete. */
  end(): void {
    this.#at = this.#offset;
    if (this.#row !== null)
      throw this.#fault(`it ends inside the value that begins on ${this.#rowPlace}`);
    if (!this.#isOver) throw this.#fault("it ends before its last bracket is closed");
    if (this.#list === null && this.#emptyLists !== 1)
      throw this.#notRows("JSON without a list of objects");
  }

  #readText(code: number): void {
    // Any other control character spoils the row alone.
    if (code === byte.lineFeed || code === byte.return) {
      throw this.#fault("a text is not closed on its line");
    }
    if (this.#row !== null) this.#write(code);
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === byte.backslash) this.#isEscaped = true;
    else if (code === byte.quote) this.#endText();
    else if (this.#open.length === 1 && this.#text.length < mostText) {
      this.#text += String.fromCharCode(code);
    }
  }

  #endText(): void {
    this.#inText = false;
    if (this.#row === "text") {
      this.#write(byte.closeObject);
      this.#endRow();
    }
    if (this.#row === null && this.#before === "type" && this.#text === "bundle") {
      throw this.#notRows("a STIX bundle");
    }
  }

  #startText(): void {
    this.#before = this.#text;
    this.#text = "";
    this.#inText = true;
  }

  #endLine(): void {
    if (this.#row !== null && this.#line - this.#linesWritten > limits.recordBytes)
      throw this.#fault(`the value that begins on ${this.#rowPlace} has too many lines`);
    this.#line += 1;
    this.#lineStart = this.#at + 1;
    this.#readSpace();
    if (this.#row === null) this.#writeLinesRead();
  }

  #readSpace(): void {
    if (this.#row === "scalar") this.#endRow();
    this.#hasGap = this.#inWord;
  }

  /** Writes as many line ends as were read, so that the next row keeps its line. */
  #writeLinesRead(): void {
    for (; this.#linesWritten < this.#line - 1; this.#linesWritten++) this.#write(byte.lineFeed);
  }

  /** Reads a byte between the rows. */
  #readRows(code: number): void {
    if (code === byte.comma || code === byte.closeList) {
      if (this.#row === "scalar") this.#endRow();
      const isEmpty = code === byte.closeList && this.#rows === 0;
      if (this.#expects === "value" && !isEmpty) throw this.#fault("a value is missing");
      this.#expects = "value";
      if (code === byte.closeList) this.#close(code);
    } else if (this.#row === "scalar") {
      this.#write(code);
    } else {
      if (this.#expects === "comma") throw this.#fault("a comma is missing");
      this.#startRow(code);
    }
  }

  #startRow(code: number): void {
    const isObject = code === byte.openObject;
    const isText = code === byte.quote;
    const isList = code === byte.openList;
    if (this.#rows === 0 && !isObject && !isText) {
      throw this.#notRows(isList ? "a list of lists" : "a list without objects");
    }
    this.#rows += 1;
    this.#row = isText ? "text" : isObject || isList ? "object" : "scalar";
    this.#rowPlace = this.#place();
    if (isText) {
      for (const part of Buffer.from('{"item":')) this.#write(part);
      this.#startText();
    }
    this.#write(code);
    if (isObject || isList) this.#open.push(code);
  }

  #endRow(): void {
    this.#row = null;
    this.#expects = "comma";
    this.#write(byte.lineFeed);
    this.#linesWritten += 1;
    this.#writeLinesRead();
  }

  /** Reads a byte outside the list of rows, or inside a row. */
  #readValue(code: number): void {
    if (this.#isOver) throw this.#fault("the document has ended here, but more follows");
    if (this.#isUndecided && this.#decide(code)) return this.#readRows(code);
    const isWord =
      code !== byte.comma && code !== byte.colon && code !== byte.quote && !isBracket(code);
    if (this.#row !== null) {
      if (isWord && this.#hasGap) this.#write(byte.space);
      this.#write(code);
    }
    this.#inWord = isWord;
    this.#hasGap = false;
    if (code === byte.quote) this.#startText();
    else if (code === byte.openObject || code === byte.openList) this.#enter(code);
    else if (code === byte.closeObject || code === byte.closeList) this.#close(code);
    else if (this.#open.length === 0) throw this.#notRows("JSON without a list of objects");
  }

  #enter(code: number): void {
    const depth = this.#open.push(code);
    if (this.#row !== null || code !== byte.openList) return;
    if (depth === 1) {
      this.#list = "";
      this.#rowsDepth = 1;
    } else if (depth === 2) {
      this.#isUndecided = true;
    }
  }

  /** Whether the list that begins holds the rows. */
  #decide(code: number): boolean {
    this.#isUndecided = false;
    if (code === byte.closeList) this.#emptyLists += 1;
    if (code !== byte.openObject) return false;
    if (this.#list !== null) {
      throw this.#notRows(
        `JSON with several lists of objects ("${this.#list}" and "${this.#text}")`,
      );
    }
    this.#list = this.#text;
    this.#rowsDepth = 2;
    return true;
  }

  #close(code: number): void {
    const opened = this.#open.pop();
    if ((opened === byte.openList) !== (code === byte.closeList) || opened === undefined) {
      const right = opened === byte.openList ? "]" : "}";
      throw this.#fault(`${String.fromCharCode(code)} stands where ${right} belongs`);
    }
    const depth = this.#open.length;
    if (depth < this.#rowsDepth) this.#rowsDepth = 0;
    else if (depth === this.#rowsDepth && this.#row !== null) this.#endRow();
    this.#isOver = depth === 0;
  }

  #write(code: number): void {
    if (this.#length === this.#out.length) {
      this.#out = Buffer.concat([this.#out], this.#length * 2);
    }
    this.#out[this.#length++] = code;
  }

  #place(): string {
    return `line ${this.#line}, column ${this.#at - this.#lineStart + 1}`;
  }

  #fault(what: string): FatalError {
    return new FatalError("input_json", `${this.#place()} of ${this.#name}: ${what}`);
  }

  #notRows(what: string): UsageError {
    const file = this.#name === "stdin" ? "FILE" : shellWord(this.#name);
    return new UsageError(
      "input_json_rows",
      `${this.#name} is ${what}; repute reads JSON with one list of objects`,
      { hint: `find the items in it: repute extract ${file} | repute enrich - -o OUT` },
    );
  }
}
