import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Encoder } from "../types.js";

/**
 * Gives an encoder the lines that a resumed output holds up to its checkpoint; nothing to do for
 * formats that need not know.
 *
 * @param length bytes that are kept; what is behind them will be written again
 * @throws what the file system or the decompression throws
 */
export async function rereadOutput(
  encoder: Encoder,
  path: string,
  { length, gzip }: { readonly length: number; readonly gzip: boolean },
): Promise<void> {
  if (encoder.reread === undefined || length === 0) return;
  const file = createReadStream(path, { end: length - 1 });
  const bytes: Readable = gzip ? file.pipe(createGunzip()) : file;
  file.on("error", (error) => bytes.destroy(error));
  let rest = "";
  for await (const chunk of bytes.setEncoding("utf8")) {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) encoder.reread(line);
  }
  encoder.reread(rest);
}
