import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { outputFault } from "./output-fault.js";
import type { Encoder } from "../formats/types.js";
import type { SinkPosition } from "./types.js";
import { partGone } from "./verify-part.js";

export interface RereadOptions {
  /** What is kept; what is behind it will be written again. */
  readonly position: SinkPosition;
  readonly gzip: boolean;
}

/**
 * Gives an encoder the lines that a resumed output holds up to its checkpoint; nothing to do for
 * formats that need not know.
 *
 * @param path the file that grows, `OUT.part`
 * @throws FatalError `output_part_gone` when it does not hold what the checkpoint says, `output_*`
 * when it cannot be read
 */
export async function rereadOutput(
  encoder: Encoder,
  path: string,
  { position, gzip }: RereadOptions,
): Promise<void> {
  if (encoder.reread === undefined) return;
  if (position.length > 0) {
    for await (const line of linesOf(path, position.length, gzip)) encoder.reread(line);
  }
  if (encoder.indicators !== position.indicators) throw partGone(path);
}

async function* linesOf(path: string, length: number, gzip: boolean): AsyncGenerator<string> {
  const file = createReadStream(path, { end: length - 1 });
  const bytes: Readable = gzip ? file.pipe(createGunzip()) : file;
  file.on("error", (error) => bytes.destroy(error));
  let rest = "";
  try {
    for await (const chunk of bytes.setEncoding("utf8")) {
      const lines = (rest + String(chunk)).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw code.startsWith("Z_") ? partGone(path) : outputFault(path, error);
  }
  yield rest;
}
