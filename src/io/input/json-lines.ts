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
