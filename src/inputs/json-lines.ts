import { limits } from "../formats/reading/lines.js";
import { JsonDocument } from "./json-document.js";

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

/**
 * Whether an input begins a JSON document rather than NDJSON.
 *
 * @param isNamed its name or a flag says that it is JSON, so that one line may be a document
 */
export function startsDocument(head: Buffer, isNamed: boolean): boolean {
  const text = head.toString("utf8", 0, limits.headBytes).trimStart();
  if (text.startsWith("[")) return /^\[\s*(?:[{"\]]|$)/.test(text) || isNamed;
  if (!text.startsWith("{")) return false;
  const end = text.indexOf("\n");
  if (end === -1 && head.length >= limits.headBytes) return isNamed;
  const line = (end === -1 ? text : text.slice(0, end)).trim();
  const object = parsed(line);
  if (object === undefined) return /^\{(?:.*[{[,:])?$/.test(line);
  return isNamed && text.slice(line.length).trim() === "" && !isRow(object);
}

/** Whether these bytes are enough for `startsDocument`. */
export function showsDocument(head: Buffer): boolean {
  return head.length >= limits.headBytes || /\S\s*\n\s*\S/.test(head.toString("latin1"));
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

/** Whether an object on the only line is a row: it has a plain value, and no list of objects. */
function isRow(object: unknown): boolean {
  const values: unknown[] = Object.values(object as object);
  const isList = (value: unknown): boolean =>
    Array.isArray(value) && typeof value[0] === "object" && value[0] !== null;
  return (
    !values.some(isList) && values.some((value) => typeof value !== "object" || value === null)
  );
}
