import { createReadStream } from "node:fs";
import { dirname } from "node:path";
import { linesEncoder } from "../../formats/lines-encoder.js";
import { bundleEnd, encodedId, stix } from "../../formats/shapes/stix.js";
import type { EncoderOptions } from "../../formats/types.js";
import { checkWritable, writePart } from "../file-destination.js";
import { partPath, renamePart } from "../part-file.js";
import type { Publication } from "../publication.js";
import { type Stage, stageLine } from "../stage.js";
import { type TextWriter, textWriter } from "../text/text-sink.js";
import type { Destination } from "../types.js";

export interface BundleTarget {
  readonly file: string;
  readonly gzip: boolean;
  /** Gets what the file holds, which has no name of its own then; null for none. */
  readonly stream: Destination | null;
}

/**
 * Prepares to publish a STIX bundle, which has each indicator once. Only rows with an indicator are
 * staged.
 *
 * Memory grows by about 100 bytes per indicator, once the run has ended.
 */
export async function publishStix(
  { file, gzip, stream }: BundleTarget,
  options: EncoderOptions,
): Promise<Publication> {
  await checkWritable(dirname(file), file);
  const encoder = stix.write(options);
  return {
    encoder: linesEncoder((row) => {
      const text = encoder.encode([row]);
      return text === "" ? "" : stageLine([text]);
    }),
    takesParts: false,
    async prepare(stage) {
      const ids = new Set<string>();
      const written = await writePart(file, (destination) =>
        writeBundle(stage, encoder.header, textWriter(destination, gzip), ids),
      );
      return { ...written, rows: null, indicators: ids.size };
    },
    async commit(_, suffix) {
      if (stream === null) return renamePart(file, suffix);
      for await (const bytes of createReadStream(partPath(file))) {
        await stream.write(bytes as Buffer);
      }
      await stream.finish();
    },
  };
}

/** @param ids of the indicators that are written, filled here */
async function writeBundle(
  stage: Stage,
  header: string,
  writer: TextWriter,
  ids: Set<string>,
): Promise<void> {
  writer.add(header);
  for await (const rows of stage.rows()) {
    for (const [cell] of rows) {
      const text = cell as string;
      const id = encodedId(text);
      if (ids.has(id)) continue;
      ids.add(id);
      writer.add(text);
    }
    if (writer.full) await writer.flush();
  }
  writer.add(bundleEnd);
  await writer.flush();
}
