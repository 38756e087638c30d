import { printParseErrorCode, visit } from "jsonc-parser";

/** Where and why a text is not JSON. */
export interface JsonFault {
  /** Line, from 1. */
  readonly line: number;
  /** Column in UTF-16 code units, from 1. */
  readonly column: number;
  readonly message: string;
}

/** Maximum nesting depth. Beyond it, recursion over the value might overflow the stack. */
export const maxDepth = 100;

/**
 * Finds the first fault of a JSON text (RFC 8259), or null. Unlike `JSON.parse`, always gives a
 * position, and also rejects duplicate members and nesting deeper than {@link maxDepth}.
 */
export function findJsonFault(text: string): JsonFault | null {
  /** Member names of each open object; null for an open array. */
  const open: (Set<string> | null)[] = [];
  const enter = (names: Set<string> | null, line: number, column: number): void => {
    open.push(names);
    if (open.length > maxDepth) throw new JsonError(line, column, tooDeep);
  };
  const leave = (): void => void open.pop();
  try {
    visit(
      text,
      {
        onObjectBegin: (_at, _length, line, column) => enter(new Set(), line, column),
        onArrayBegin: (_at, _length, line, column) => enter(null, line, column),
        onObjectEnd: leave,
        onArrayEnd: leave,
        onObjectProperty(name, _at, _length, line, column) {
          const names = open.at(-1);
          if (names?.has(name)) throw new JsonError(line, column, `duplicate member ${clip(name)}`);
          names?.add(name);
        },
        onError(code, at, length, line, column) {
          const found = length === 0 ? "the end of the text" : clip(text.slice(at, at + length));
          const say = messages[printParseErrorCode(code)];
          throw new JsonError(line, column, say?.(found) ?? `expected a value, found ${found}`);
        },
      },
      { disallowComments: true, allowTrailingComma: false },
    );
    return null;
  } catch (error) {
    if (error instanceof JsonError) return { ...error.place, message: error.message };
    throw error;
  }
}

class JsonError extends Error {
  readonly place: { readonly line: number; readonly column: number };

  /** @param line from 0, like `column` */
  constructor(line: number, column: number, message: string) {
    super(message);
    this.place = { line: line + 1, column: column + 1 };
  }
}

const tooDeep = `nested deeper than ${maxDepth} levels`;

/** Messages by the parser's name of a fault. For all others, a value was expected. */
const messages: Readonly<Record<string, (found: string) => string>> = {
  PropertyNameExpected: (found) => `expected a member name in double quotes, found ${found}`,
  ColonExpected: (found) => `expected ":" after a member name, found ${found}`,
  CommaExpected: (found) => `expected "," or the end of the array or object, found ${found}`,
  CloseBraceExpected: (found) => `expected "," or "}", found ${found}`,
  CloseBracketExpected: (found) => `expected "," or "]", found ${found}`,
  EndOfFileExpected: (found) => `unexpected ${found} after the end of the value`,
  UnexpectedEndOfString: (found) => `unterminated string: ${found}`,
  InvalidCharacter: (found) => `control character in the string ${found}`,
  InvalidUnicode: unknownEscape,
  InvalidEscapeCharacter: unknownEscape,
};

function unknownEscape(found: string): string {
  return `invalid escape in ${found}; write a backslash itself as "\\\\"`;
}

function clip(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}
