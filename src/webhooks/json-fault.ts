/** Where and why a text is no JSON. */
export interface JsonFault {
  /** Line, from 1. */
  readonly line: number;
  /** Column in characters (UTF-16 code units), from 1. */
  readonly column: number;
  readonly message: string;
}

/** Arrays and objects within each other, at most: deeper, recursion over the value might fail. */
export const deepestJson = 100;

/**
 * Finds the first fault of a JSON text (RFC 8259), or null. `JSON.parse` names no place for many
 * faults, and takes a member that stands twice in silence; here that is a fault, as is nesting
 * deeper than {@link deepestJson}.
 */
export function findJsonFault(text: string): JsonFault | null {
  try {
    new Scanner(text).document();
    return null;
  } catch (error) {
    if (error instanceof Fault) return { ...place(text, error.at), message: error.message };
    throw error;
  }
}

class Fault extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): void {
    this.#space();
    this.#value(0);
    this.#space();
    if (this.#at < this.#text.length) this.#fail(`${this.#found()} after the end of the value`);
  }

  #value(depth: number): void {
    const first = this.#text[this.#at];
    if (first === "{") return this.#object(depth + 1);
    if (first === "[") return this.#array(depth + 1);
    if (first === '"') {
      this.#string();
      return;
    }
    const word = take(
      /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y,
      this.#text,
      this.#at,
    );
    if (word === "") this.#fail(`expected a value, found ${this.#found()}`);
    this.#at += word.length;
  }

  #object(depth: number): void {
    this.#enter(depth);
    const seen = new Set<string>();
    if (this.#skip("}")) return;
    do {
      this.#space();
      const start = this.#at;
      if (this.#text[start] !== '"') {
        this.#fail(`expected a member name in double quotes, found ${this.#found()}`);
      }
      const name = this.#string();
      if (seen.has(name)) throw new Fault(start, `the member ${clip(name)} stands twice`);
      seen.add(name);
      if (!this.#skip(":")) this.#fail(`expected ":" after a member name, found ${this.#found()}`);
      this.#space();
      this.#value(depth);
    } while (this.#skip(","));
    if (!this.#skip("}")) this.#fail(`expected "," or "}", found ${this.#found()}`);
  }

  #array(depth: number): void {
    this.#enter(depth);
    if (this.#skip("]")) return;
    do {
      this.#space();
      this.#value(depth);
    } while (this.#skip(","));
    if (!this.#skip("]")) this.#fail(`expected "," or "]", found ${this.#found()}`);
  }

  /** Reads a string and answers it with its quotes and escapes taken away. */
  #string(): string {
    const start = this.#at;
    for (let at = start + 1; at < this.#text.length; at += 1) {
      const code = this.#text.charCodeAt(at);
      if (code === 0x22) {
        this.#at = at + 1;
        return JSON.parse(this.#text.slice(start, at + 1)) as string;
      }
      if (code < 0x20) throw new Fault(at, "a line break or control character within a string");
      if (code !== 0x5c) continue;
      const escape = take(/\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y, this.#text, at);
      if (escape === "")
        throw new Fault(at, 'no such escape; a backslash itself is written "\\\\"');
      at += escape.length - 1;
    }
    throw new Fault(start, "a string that is never closed");
  }

  #enter(depth: number): void {
    if (depth > deepestJson) this.#fail(`nested deeper than ${deepestJson} levels`);
    this.#at += 1;
  }

  #skip(character: string): boolean {
    this.#space();
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #space(): void {
    this.#at += take(/[ \t\r\n]*/y, this.#text, this.#at).length;
  }

  #found(): string {
    const code = this.#text.codePointAt(this.#at);
    return code === undefined ? "the end of the text" : clip(String.fromCodePoint(code));
  }

  #fail(message: string): never {
    throw new Fault(this.#at, message);
  }
}

function take(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

function clip(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}

function place(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at);
  const line = before.split("\n").length;
  return { line, column: at - (before.lastIndexOf("\n") + 1) + 1 };
}
