import type { Delimiter } from "../../inputs/types.js";

/** In the order in which they are tried where nothing says which one it is. */
export const delimiters: readonly Delimiter[] = ["\t", ";", ","];

/** Delimiters in a line outside of quotes. */
export function countDelimiters(line: string, delimiter: Delimiter): number {
  return splitLine(line, delimiter).length - 1;
}

/** The cells of a line that is a record by itself; quotes may follow a space. For guesses only. */
export function splitLine(line: string, delimiter: Delimiter): readonly string[] {
  const cells: string[] = [];
  let cell = "";
  let quoted = false;
  for (let at = 0; at < line.length; at++) {
    const char = line.charAt(at);
    if (char === '"' && (quoted || cell.trim() === "")) {
      if (quoted && line.charAt(at + 1) === '"') cell += line.charAt(++at);
      else quoted = !quoted;
    } else if (char === delimiter && !quoted) {
      cells.push(cell);
      cell = "";
    } else {
      cell += char;
    }
  }
  cells.push(cell);
  return cells;
}
