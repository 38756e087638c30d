import type { Readable } from "node:stream";
import type { ChecksumState } from "../../core/files/checksum.js";
import type { Row } from "../../core/row.js";
import type { InputType } from "../formats/column-types.js";
import type { TextBytes } from "../formats/reading/lines.js";
import type { SourceSettings } from "../formats/source-options.js";
import type { CopyShape, TableInput } from "./table-input.js";
import type { ReadOptions, SourceLayout } from "../formats/types.js";

/** How an interrupted run read its input. */
export interface SourcePosition extends SourceLayout {
  /** Rows that are written. They are read again, except for files before the one of the last row. */
  readonly row: number;
  /** Checksum of the stored bytes read by then. */
  readonly input?: ChecksumState | undefined;
  /** Of several inputs, what is known of each; `row` then counts across them. */
  readonly files?: readonly FilePosition[] | undefined;
}

/** How far one of several inputs was read. Plain JSON. */
export interface FilePosition extends SourceLayout {
  readonly name: string;
  readonly kind?: string | undefined;
  /** Rows of the inputs before it; null if it isn't reached yet. */
  readonly start: number | null;
  readonly input?: ChecksumState | undefined;
  /** Stored size in bytes; null for a stream. */
  readonly bytesTotal: number | null;
  readonly warnings: readonly string[];
}

/** How the text of an input is stored; a named encoding is not detected. */
export interface Encoding extends Pick<SourceSettings, "encoding" | "sheet"> {
  /** Require gzip. Without this, gzip is detected by its first bytes. */
  readonly gzip: boolean;
  /**
   * Read a JSON document as NDJSON: `named` if the input is said to be JSON, `possible` if its first
   * lines decide. @default not at all
   */
  readonly json?: "named" | "possible" | undefined;
}

export interface SourceOptions extends ReadOptions, Encoding {
  readonly startAt: SourcePosition | null;
}

/** What a file is the copy of. */
interface CopiedFrom {
  /** As the user named it, without a password. */
  readonly name: string;
  /** Of a table: its kind, how its rows are read, and the types of its columns. */
  readonly kind?: string;
  readonly shape?: CopyShape;
  readonly types?: () => readonly InputType[];
  /** Of an object: its ETag; null for unknown. */
  readonly version?: () => Promise<string | null>;
}

/** A file, an object or a table. */
export interface FileInput {
  readonly path: string;
  /** The table that it names, which is copied first. */
  readonly table?: TableInput;
  readonly copyOf?: CopiedFrom;
}

/** A file, or a stream (stdin). */
export type SourceInput =
  | FileInput
  | {
      readonly stream: Readable;
      readonly name: string;
      /** Identifies the content, where it is known before it is read. */
      readonly version?: string;
    };

export interface NamedInput {
  /** As given; of a folder's file, the folder and the path in it. */
  readonly name: string;
  readonly input: SourceInput;
  /** The folder that stands for the file among others, as given. */
  readonly folder?: string;
}

export interface SkippedFile {
  readonly folder: string;
  readonly path: string;
  readonly reason: string;
}

export interface SeveralInputs {
  readonly inputs: readonly NamedInput[];
  readonly skipped?: readonly SkippedFile[];
}

export type RunInput = SourceInput | SeveralInputs;

export interface InputBytes extends TextBytes, AsyncDisposable {
  /** Stored size in bytes; null if it isn't a regular file. */
  readonly bytesTotal: number | null;
  bytesRead(): number;
  checksum(): ChecksumState;
  close(): Promise<void>;
}

/** Input of a source. A stream that was sampled is already open. */
export type AnyInput = SourceInput | { readonly opened: InputBytes };

/** An opened input with its header read and its item column found. */
export interface OpenedSource
  extends SourceLayout, Pick<InputBytes, "bytesTotal" | "bytesRead" | "close"> {
  /** Batches of rows in input order, never empty. Leaving the loop early closes the input. */
  readonly rows: AsyncIterable<readonly Row[]>;
  /** What is read, if it is not text: the kind of a table. */
  readonly kind?: string | undefined;
  /**
   * Checksum of those bytes, verified by a resumed run; undefined for several inputs, which have one
   * each.
   */
  checksum(): ChecksumState | undefined;
  files?(): readonly FilePosition[];
  readonly warnings: readonly string[];
}

export function inputsOf(input: RunInput): readonly SourceInput[] {
  return "inputs" in input ? input.inputs.map((named) => named.input) : [input];
}

/** The inputs that have names. */
export function fileInputs(input: RunInput): readonly FileInput[] {
  return inputsOf(input).flatMap((one) => ("path" in one ? [one] : []));
}

/** Whether a file is the copy of a table, whose lines need no detection. */
export function isTableCopy(input: AnyInput): boolean {
  return "path" in input && input.copyOf?.shape !== undefined;
}

export function inputPaths(input: RunInput): readonly string[] {
  return fileInputs(input).map(({ path }) => path);
}
