import { printParseErrorCode, visit } from "jsonc-parser";

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
  /** Names of the members of each open object; null for an open array. */
  const open: (Set<string> | null)[] = [];
  const enter = (names: Set<string> | null, line: number, column: number): void => {
    open.push(names);
    if (open.length > deepestJson) throw new Fault(line, column, tooDeep);
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
          if (names?.has(name))
            throw new Fault(line, column, `the member ${clip(name)} stands twice`);
          names?.add(name);
        },
        onError(code, at, length, line, column) {
          const found = length === 0 ? "the end of the text" : clip(text.slice(at, at + length));
          const say = messages[printParseErrorCode(code)];
          throw new Fault(line, column, say?.(found) ?? `expected a value, found ${found}`);
        },
      },
      { disallowComments: true, allowTrailingComma: false },
    );
    return null;
  } catch (error) {
    if (error instanceof Fault) return { ...error.place, message: error.message };
    throw error;
  }
}

class Fault extends Error {
  readonly place: { readonly line: number; readonly column: number };

  /** @param line and `column` from 0 */
  constructor(line: number, column: number, message: string) {
    super(message);
    this.place = { line: line + 1, column: column + 1 };
  }
}

const tooDeep = `nested deeper than ${deepestJson} levels`;

/** By the parser's name of a fault; every other means that a value was expected. */
const messages: Readonly<Record<string, (found: string) => string>> = {
  PropertyNameExpected: (found) => `expected a member name in double quotes, found ${found}`,
  ColonExpected: (found) => `expected ":" after a member name, found ${found}`,
  CommaExpected: (found) => `expected "," or the end of the array or object, found ${found}`,
  CloseBraceExpected: (found) => `expected "," or "}", found ${found}`,
  CloseBracketExpected: (found) => `expected "," or "]", found ${found}`,
  EndOfFileExpected: (found) => `${found} after the end of the value`,
  UnexpectedEndOfString: (found) => `a string that is not closed on its line: ${found}`,
  InvalidCharacter: (found) => `a control character within the string ${found}`,
  InvalidUnicode: unknownEscape,
  InvalidEscapeCharacter: unknownEscape,
};

function unknownEscape(found: string): string {
  return `an escape that JSON does not know in ${found}; a backslash itself is written "\\\\"`;
}

function clip(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}
