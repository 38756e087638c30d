import { createReadStream } from "node:fs";
import { join } from "node:path";
import { bundleEnd, bundleHeader, encodedId } from "../../formats/shapes.js";
import { checkWritable, type Destination, partPath, renamePart, writePart } from "../part-file.js";
import { describer, type Publisher, type PublisherOptions } from "../publisher.js";
import { type Stage, stageEncoder } from "../stage.js";
import { type TextWriter, textWriter } from "../text/text-sink.js";

/**
 * Publishes a STIX bundle, which has each indicator once. Only rows with an indicator are staged.
 *
 * Memory grows by about 100 bytes per indicator, once the run has ended.
 */
export async function stixPublisher(options: PublisherOptions): Promise<Publisher> {
  const { runId, folder, text } = options;
  // A stream gets what the file holds, which has no name of its own then.
  const file = options.file ?? join(folder, "bundle");
  const stream = options.file === null ? ((await text?.openStream()) ?? null) : null;
  return {
    describe: describer(options, { format: "stix" }),
    async check(encode) {
      await checkWritable(file);
      const encoder = encode();
      const staged = stageEncoder((row) => {
        const text = encoder.encode([row]);
        return text === "" ? null : [text];
      });
      return { encoder: staged };
    },
    async publish(stage, { suffix }) {
      const ids = new Set<string>();
      const written = await writePart(file, (destination) =>
        writeBundle(stage, bundleHeader(runId), textWriter(destination, text?.gzip === true), ids),
      );
      if (stream === null) await renamePart(file, suffix);
      else await copyTo(stream, partPath(file));
      return { ...written, indicators: ids.size };
    },
  };
}

async function copyTo(stream: Destination, path: string): Promise<void> {
  for await (const bytes of createReadStream(path)) await stream.write(bytes as Buffer);
  await stream.close();
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
