import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { encodeText } from "../core/bytes.js";
import type { EnrichedRow } from "../core/row.js";
import type { Destination, Sink, SinkPosition, SinkResult } from "./types.js";
import type { Encoder } from "../formats/types.js";
import type { FindingStatus } from "../core/finding.js";

const compress = promisify(gzip);

/** Text kept before it goes out: plain batches stay small, compressed ones pay for their member. */
const flushAt = { plain: 256 * 1024, gzip: 1024 * 1024 };

export interface TextSinkOptions {
  readonly gzip: boolean;
  /** Rows that the destination holds already (a resumed run), or null when it is new. */
  readonly resumeRows: number | null;
}

/**
 * A sink of text lines: an encoder for the format, a destination for the bytes.
 *
 * Compressed output is a chain of gzip members (RFC 1952, 2.2), each whole in itself, so that it
 * can be cut back to any checkpoint and continued.
 */
export function textSink(
  encoder: Encoder,
  destination: Destination,
  { gzip: isCompressed, resumeRows }: TextSinkOptions,
): Sink {
  let pending = resumeRows === null ? encoder.header : "";
  let rows = resumeRows ?? 0;
  const limit = isCompressed ? flushAt.gzip : flushAt.plain;
  let beforeEnd: SinkPosition | null = null;

  const flush = async (): Promise<void> => {
    if (pending === "") return;
    const bytes = encodeText(pending);
    pending = "";
    await destination.write(isCompressed ? await compress(bytes) : bytes);
  };

  const position = (): SinkPosition => {
    const { length } = destination;
    const checksum = destination.checksum();
    return { length, rows, ...(checksum === null ? {} : { checksum }), ...written(encoder) };
  };

  const end = async (): Promise<void> => {
    if (beforeEnd !== null || encoder.footer === undefined) return;
    await flush();
    beforeEnd = position();
    pending = encoder.footer;
    await flush();
  };

  return {
    async write(batch: readonly EnrichedRow[]): Promise<void> {
      pending += encoder.encode(batch);
      rows += batch.length;
      // A stream's reader waits for rows; a file's does not.
      if (pending.length >= limit || destination.path === null) await flush();
    },
    async checkpoint(): Promise<SinkPosition> {
      await flush();
      // No bytes at all are no gzip file (RFC 1952, 2.2): an empty member is one.
      if (isCompressed && destination.length === 0) {
        await destination.write(await compress(new Uint8Array(0)));
      }
      await destination.sync();
      return beforeEnd ?? position();
    },
    end,
    async finish(suffix): Promise<SinkResult> {
      await end();
      await flush();
      await destination.finish(suffix);
      return { path: destination.path, bytes: destination.length, rows, ...written(encoder) };
    },
    abandon: () => destination.abandon(),
  };
}

function written({ indicators }: Encoder): { readonly indicators?: number } {
  return indicators === undefined ? {} : { indicators };
}

/** Rows that came to nothing that could be used. */
const rejected: ReadonlySet<FindingStatus> = new Set(["invalid", "unsupported", "failed"]);

/** Writes every row to `sink`, and those that did not become complete or partial to `rejects` too. */
export function withRejects(sink: Sink, rejects: Sink): Sink {
  return {
    async write(rows) {
      await sink.write(rows);
      const refused = rows.filter(({ finding }) => rejected.has(finding.status));
      if (refused.length > 0) await rejects.write(refused);
    },
    async checkpoint(note) {
      const apart = await rejects.checkpoint();
      const both = (position: SinkPosition): SinkPosition => ({ ...position, rejects: apart });
      return both(await sink.checkpoint(note && ((position) => note(both(position)))));
    },
    get full() {
      return sink.full ?? false;
    },
    async end() {
      await rejects.end?.();
      await sink.end?.();
    },
    async finish(suffix) {
      await rejects.finish(suffix);
      return sink.finish(suffix);
    },
    async abandon() {
      await rejects.abandon();
      await sink.abandon();
    },
  };
}
