import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { encodeText } from "../../../core/bytes.js";
import { FatalError, startOver } from "../../../core/errors.js";
import { hashFile } from "../../../core/files/checksum.js";
import type { EnrichedRow } from "../../../core/row.js";
import type { Encoder } from "../../formats/types.js";
import { type Destination, outputGone, renamePart, type SinkPosition } from "../part-file.js";
import { describer, type Publisher, type PublisherOptions } from "../publisher.js";

const compress = promisify(gzip);

/**
 * Characters buffered before a write. Compressed output uses more, to amortise a member's overhead.
 */
const flushAt = { plain: 256 * 1024, gzip: 1024 * 1024 };

export type TextWriter = ReturnType<typeof textWriter>;

/**
 * Writes text to a destination. Compressed text is a sequence of gzip members (RFC 1952, section
 * 2.2), so it can be truncated after any of them and continued.
 */
export function textWriter(destination: Destination, isCompressed: boolean) {
  let pending = "";
  const limit = isCompressed ? flushAt.gzip : flushAt.plain;
  return {
    add(text: string): void {
      pending += text;
    },
    get full(): boolean {
      return pending.length >= limit;
    },
    async flush(): Promise<void> {
      if (pending === "") return;
      const bytes = encodeText(pending);
      pending = "";
      await destination.write(isCompressed ? await compress(bytes) : bytes);
    },
  };
}

/** @param options.resumeRows rows already in the destination when resuming; null for a new output */
export function textSink(
  encoder: Encoder,
  destination: Destination,
  { gzip: isCompressed, resumeRows }: { gzip: boolean; resumeRows: number | null },
) {
  const writer = textWriter(destination, isCompressed);
  if (resumeRows === null) writer.add(encoder.header);
  let rows = resumeRows ?? 0;

  return {
    /** Writes rows in order. Resolves when it accepts more: this is the back-pressure. */
    async write(batch: readonly EnrichedRow[]): Promise<void> {
      writer.add(encoder.encode(batch));
      rows += batch.length;
      // Readers of a stream expect rows as soon as possible; readers of a file don't.
      if (writer.full || destination.path === null) await writer.flush();
    },
    /** Makes all rows written so far durable and returns the position. */
    async checkpoint(): Promise<SinkPosition> {
      await writer.flush();
      // An empty file isn't valid gzip (RFC 1952, section 2.2); an empty member is.
      if (isCompressed && destination.length === 0) {
        await destination.write(await compress(new Uint8Array(0)));
      }
      await destination.sync();
      return { length: destination.length, rows, checksum: destination.checksum() };
    },
    /** Completes: all rows are durable, or the reader of a stream has them. */
    async close(): Promise<void> {
      await writer.flush();
      await destination.close();
    },
    /** Closes without completing: nothing gets the final name, durable data stays for a resume. */
    abandon: () => destination.abandon(),
  };
}

export type Sink = ReturnType<typeof textSink>;

/** Renames a staged text file, which already holds the final bytes. A stream gets them at once. */
export function textPublisher(options: PublisherOptions): Publisher {
  const { file, text } = options;
  const { format = "", gzip: isCompressed = false } = text ?? {};
  return {
    describe: describer(options, { format, stage: file, isCompressed }),
    check: async (encode) => ({ encoder: encode() }),
    async publish(stage, { suffix }) {
      if (file === null) throw new TypeError("a stream has its rows already");
      const rows = stage.count;
      if (existsSync(stage.path)) {
        const written = await stage.verify();
        await renamePart(file, suffix);
        return { ...written, rows };
      }
      const name = file + suffix;
      if (!existsSync(name)) throw outputGone(name);
      const { bytes, crc, sha256 } = await hashFile(name);
      if (bytes === stage.length && crc === stage.crc) return { bytes, sha256, rows };
      const message = `${name} is damaged: it has other bytes than the run wrote`;
      throw new FatalError("output_part_damaged", message, { hint: startOver });
    },
  };
}
