import { FatalError, UsageError } from "../core/errors.js";
import { shellWord } from "../core/text/quantity.js";

/** A text, a bracket, comma or colon, a line end, spaces, or a number or word. */
const tokens = /"(?:[^"\\\n]|\\.)*"|[[\]{},:]|\n|[ \t\r]+|[^"[\]{},: \t\r\n]+/y;

/** Reads a JSON document as the lines of NDJSON. Bytes are read as Latin-1. */
export class JsonDocument {
  readonly #name: string;
  #open = "";
  #isOver = false;
  /** Depth of the list of rows while it is open; else 0. */
  #rowsDepth = 0;
  #list: string | null = null;
  #isUndecided = false;
  #emptyLists = 0;
  #rows = 0;
  #expects: "value" | "comma" = "value";
  /** Place of the row that is open; null for none. */
  #row: string | null = null;
  /** The token before, other than spaces. */
  #last = "";
  /** The last text at the top of an object. */
  #key = "";
  #line = 1;
  #linesWritten = 0;
  /** Offsets of the line and of the token. */
  #lineStart = 0;
  #at = 0;
  /** What may go on in the next chunk. */
  #rest = "";
  #out = "";

  constructor(name: string) {
    this.#name = name;
  }

  read(chunk: Buffer): Buffer {
    const text = this.#rest + chunk.toString("latin1");
    const read = this.#readTokens(text, text.length - 1);
    this.#rest = text.slice(read);
    return this.#written();
  }

  /** The last rows. Checks that the document is complete. */
  end(): Buffer {
    this.#readTokens(this.#rest, this.#rest.length);
    if (this.#row !== null)
      throw this.#fault(`it ends inside the value that begins on ${this.#row}`);
    if (!this.#isOver) throw this.#fault("it ends before its last bracket is closed");
    if (this.#list === null && this.#emptyLists !== 1) throw this.#notRows(noList);
    return this.#written();
  }

  /** Reads the tokens that end at `last` or before. Returns the end of the last one. */
  #readTokens(text: string, last: number): number {
    let read = 0;
    for (;;) {
      tokens.lastIndex = read;
      const [token] = tokens.exec(text) ?? [];
      if (token === undefined && text.includes("\n", read)) {
        this.#at += text.indexOf("\n", read) - read;
        throw this.#fault("a text is not closed on its line");
      }
      if (token === undefined || read + token.length > last) return read;
      if (token === "\n") this.#endLine();
      else if (!spaces.test(token)) {
        this.#take(token);
        this.#last = token;
      }
      this.#at += token.length;
      read += token.length;
    }
  }

  #written(): Buffer {
    const out = Buffer.from(this.#out, "latin1");
    this.#out = "";
    return out;
  }

  #endLine(): void {
    this.#line += 1;
    this.#lineStart = this.#at + 1;
    if (this.#row === null) this.#writeLinesRead();
  }

  /** Writes as many line ends as were read, so that the next row keeps its line. */
  #writeLinesRead(): void {
    const lines = Math.max(0, this.#line - 1 - this.#linesWritten);
    this.#out += "\n".repeat(lines);
    this.#linesWritten += lines;
  }

  #take(token: string): void {
    if (this.#isOver) throw this.#fault("the document has ended here, but more follows");
    if (this.#isUndecided) this.#decide(token);
    if (this.#row === null && this.#rowsDepth > 0) return this.#takeBetweenRows(token);
    if (this.#row !== null) {
      const isGap = word.test(token) && word.test(this.#last);
      this.#out += isGap ? ` ${token}` : token;
    }
    if (token === "{" || token === "[") this.#enter(token);
    else if (token === "}" || token === "]") this.#close(token);
    else if (this.#open === "") throw this.#notRows(noList);
    else if (this.#open === "{" && token.startsWith('"')) {
      if (this.#key === '"type"' && token === '"bundle"') throw this.#notRows("a STIX bundle");
      this.#key = token;
    }
  }

  #takeBetweenRows(token: string): void {
    if (token === "," || token === "]") {
      const isEmpty = token === "]" && this.#rows === 0;
      if (this.#expects === "value" && !isEmpty) throw this.#fault("a value is missing");
      this.#expects = "value";
      if (token === "]") this.#close(token);
      return;
    }
    if (this.#expects === "comma") throw this.#fault("a comma is missing");
    const isText = token.startsWith('"');
    if (this.#rows === 0 && token !== "{" && !isText) {
      throw this.#notRows(token === "[" ? "a list of lists" : "a list without objects");
    }
    this.#rows += 1;
    this.#out += isText ? `{"item":${token}}` : token;
    if (token !== "{" && token !== "[") return this.#endRow();
    this.#open += token;
    this.#row = this.#place();
  }

  #endRow(): void {
    this.#row = null;
    this.#expects = "comma";
    this.#out += "\n";
    this.#linesWritten += 1;
    this.#writeLinesRead();
  }

  #enter(bracket: string): void {
    this.#open += bracket;
    if (this.#row !== null || bracket !== "[") return;
    if (this.#open === "[") {
      this.#list = "";
      this.#rowsDepth = 1;
    } else this.#isUndecided = this.#open.length === 2;
  }

  /** Takes a list that begins with an object for the list of rows. */
  #decide(token: string): void {
    this.#isUndecided = false;
    if (token === "]") this.#emptyLists += 1;
    if (token !== "{") return;
    if (this.#list !== null) {
      throw this.#notRows(`JSON with several lists of objects (${this.#list} and ${this.#key})`);
    }
    this.#list = this.#key;
    this.#rowsDepth = 2;
  }

  #close(bracket: string): void {
    const expected = this.#open.endsWith("[") ? "]" : "}";
    if (this.#open === "" || bracket !== expected) {
      throw this.#fault(`${bracket} stands where ${expected} belongs`);
    }
    this.#open = this.#open.slice(0, -1);
    const depth = this.#open.length;
    if (depth < this.#rowsDepth) this.#rowsDepth = 0;
    else if (depth === this.#rowsDepth && this.#row !== null) this.#endRow();
    this.#isOver = depth === 0;
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

const noList = "JSON without a list of objects";
const spaces = /^[ \t\r]/;
const word = /^[^"[\]{},:]/;
