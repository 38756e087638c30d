import { createReadStream } from "node:fs";
import { dirname } from "node:path";
import { FatalError } from "../../core/errors.js";
import { startOver } from "../../core/remedies.js";
import { linesEncoder } from "../../formats/lines-encoder.js";
import { bundleEnd, encodedId, stix } from "../../formats/shapes/stix.js";
import type { EncoderOptions } from "../../formats/types.js";
import { auditOutput } from "../audit-output.js";
import { checkWritable, partPath, renamePart, writePart } from "../file-destination.js";
import type { Publication } from "../publication.js";
import { type Stage, stageLine } from "../stage.js";
import { textWriter } from "../text-sink.js";
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
    columns: [{ type: "text" }],
    takesParts: false,
    async prepare(stage) {
      const written = await writeBundle(stage, encoder.header, file, gzip);
      const reading = { ...options, inputColumns: 0, format: "stix", gzip } as const;
      const audit = await auditOutput(partPath(file), reading);
      if (audit.indicators === written) return audit;
      const message = `${written} indicators written, ${audit.indicators} in the file`;
      throw new FatalError("rows_lost", message, { hint: startOver });
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

function writeBundle(stage: Stage, header: string, file: string, gzip: boolean): Promise<number> {
  return writePart(file, async (destination) => {
    const writer = textWriter(destination, gzip);
    const ids = new Set<string>();
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
    return ids.size;
  });
}
