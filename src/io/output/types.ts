import type { ChecksumState } from "../../core/files/checksum.js";
import type { Manifest } from "../../core/manifest.js";
import type { SinkFormat } from "../formats/types.js";

/** How much of an output is durable. Plain JSON, stored in the run's checkpoint. */
export interface SinkPosition {
  readonly length: number;
  readonly rows: number;
  /** Files: checksum of that length, verified before a run continues. */
  readonly checksum?: ChecksumState | undefined;
}

/** A file that holds an output. */
export interface OutputFile {
  readonly path: string;
  readonly format: SinkFormat | "parquet";
  readonly gzip: boolean;
}

/** A file on disk that holds what was written to it. */
export interface WrittenFile {
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** What the manifest says of published rows. A STIX bundle does not hold them one by one. */
export type WrittenOutput = Pick<Manifest["output"], "bytes" | "sha256"> &
  Partial<Pick<Manifest["output"], "rows" | "indicators" | "without_key">>;

export interface Destination {
  /** Final path, or null for a stream. */
  readonly path: string | null;
  /** Bytes written, including earlier sessions. */
  readonly length: number;
  /** Checksum of those bytes; undefined for a stream, which is never read back. */
  checksum(): ChecksumState | undefined;
  write(bytes: Uint8Array): Promise<void>;
  /** Makes written bytes durable (fsync); no effect on a stream. */
  sync(): Promise<void>;
  /** Completes: all bytes are durable, or the reader of a stream has them. */
  close(): Promise<void>;
  /** Closes the destination; written bytes stay under the part name. */
  abandon(): Promise<void>;
}
