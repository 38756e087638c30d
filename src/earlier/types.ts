import type { OptionalColumns } from "../core/columns.js";
import type { ChecksumState } from "../core/files/running-checksum.js";
import type { InputType } from "../formats/typed-column.js";
import type { Encoder, InputReading } from "../formats/types.js";
import type { SinkSettings } from "../outputs/options.js";
import type { EarlierRow } from "./earlier-row.js";
import type { OutputFile } from "./output-files.js";

/** How the rows of an output's files are read, and written again. */
export interface EarlierForm {
  /** The input's own columns; none for NDJSON, whose records bring their members. */
  readonly columns: readonly string[];
  /** Their types. @default text */
  readonly types?: readonly InputType[];
  /** The kind of a table. */
  readonly kind?: string;
  /** How rejected rows are written. */
  readonly reading: InputReading;
  readonly optional: OptionalColumns;
  /** The run that wrote it, if the files tell. */
  readonly runId?: string;
  /** Settings that keep the form of the files. */
  readonly settings: Partial<SinkSettings>;
  /** Wraps the encoder of text. */
  readonly encoder?: (encoder: Encoder) => Encoder;
  /** Opens a file. @throws ReputeError */
  open(file: OutputFile, from: FileStart): Promise<FileRows>;
}

/** Where the reading of a file starts. */
interface FileStart {
  /** Counts the rows; it goes on from file to file. */
  readonly place: Place;
  /** Rows to skip. */
  readonly skip: number;
  /** Checksum of what was read before, which must be the same; null for nothing. @default unchecked */
  readonly before?: ChecksumState | null;
}

/** A position in the rows of an output. */
export interface Place {
  row: number;
  /** Characters of the rows so far. */
  end: number;
}

/** The rows of a file. */
export interface FileRows {
  readonly rows: AsyncIterable<readonly EarlierRow[]>;
  bytesRead(): number;
  /** Checksum of what is read. */
  checksum(): ChecksumState | undefined;
  close(): Promise<void>;
}
