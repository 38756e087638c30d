import type { Clock } from "../../core/clock.js";
import type { InputType } from "../formats/typed-column.js";
import type { InputValue } from "../formats/input-values.js";

/** Receives what is read of a table. Everything comes again if reading has to start over. */
export interface TableReceiver {
  /** Starts, or starts over, with these columns. Names may repeat. @param types one per column */
  begin(columns: readonly string[], types: readonly InputType[]): Promise<void>;
  rows(batch: readonly (readonly InputValue[])[]): Promise<void>;
}

export interface TableReadOptions {
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  /** Folder for a temporary file. @default one of its own */
  readonly folder?: string;
  readonly onWarning: (message: string) => void;
}

export interface TableInput {
  readonly kind: string;
  /** Name for messages and the manifest, without a password. */
  readonly name: string;
  /** Whether it is of a database. */
  readonly isTable: boolean;
  /** The file that holds it; null for a server. */
  readonly file: string | null;
  /** Reads all rows once, as of one moment. Writes nothing to the source. */
  read(receiver: TableReceiver, options: TableReadOptions): Promise<void>;
}
