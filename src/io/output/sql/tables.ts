import { systemClock } from "../../../core/clock.js";
import { FatalError, UsageError } from "../../../core/errors.js";
import type { NameParts } from "../../../core/files/output-names.js";
import type { CopiedTable, CopyOptions, CopyTarget } from "../../input/table-input.js";
import type { PublisherOptions } from "../publisher.js";
import type { Stage } from "../stage.js";
import type { Dialect, TableName } from "./dialect.js";

/** A database that runs write to. Implement this to support another one. */
export interface DatabaseKind {
  readonly dialect: Dialect;
  /** Parses the address of a table; null for anything else. @throws UsageError */
  readonly parse: (name: string) => TableAddress | null;
}

/** The address of a table, or of a database of which a query selects rows. */
export interface TableAddress {
  /** The database for messages, without a password. */
  readonly place: string;
  /** How the address of a database is written, for advice. */
  readonly form: string;
  readonly table: TableName;
  /** The file of the database; null for a server. */
  readonly database: string | null;
  readonly parts: NameParts;
  /** As in `Output`. */
  readonly base: (stateDir?: string) => string;
  /** @param name of what is used of it in messages */
  connect(name: string, options: ConnectOptions): Promise<TableDatabase>;
}

export interface Selection {
  /** A single statement that returns rows. */
  readonly query: string;
  /** Whether the user wrote it. */
  readonly isOwn: boolean;
}

export interface ConnectOptions extends Pick<PublisherOptions, "signal" | "clock" | "onWarning"> {
  /** Reading requires no write permission; a check creates no file. */
  readonly access: "read" | "write" | "check";
}

export interface TableDatabase {
  readonly dialect: Dialect;
  /**
   * Runs `work` in one transaction, again if the connection is lost: also if only the confirmation of
   * its end was. All methods below but `copy` and `close` are for `work`.
   *
   * @param end `ROLLBACK` undoes the work, which then was a trial
   * @throws ReputeError; the signal's reason if it aborts waiting for a server
   */
  transaction<T>(work: () => Promise<T>, end?: "COMMIT" | "ROLLBACK"): Promise<T>;
  readonly query: Query;
  /** Waits for a lock and holds it until the end of the transaction; for servers only. */
  lock?(name: string): Promise<void>;
  /** Finds a table, or another object of that name, with its schema; null if there is none. */
  find(table: TableName): Promise<FoundTable | null>;
  columnsOf(table: TableName): Promise<readonly FoundColumn[]>;
  hasKey(table: TableName, key: readonly string[]): Promise<boolean>;
  /** Keeps others from writing to a table until the end of the transaction; for servers only. */
  lockTable?(table: TableName): Promise<void>;
  /**
   * Verifies staged rows and makes them something to select from, with their cells as `cells`. They
   * stay until the end of the transaction.
   *
   * @param stage null for no rows
   * @throws FatalError `output_part_*`
   */
  stagedRows(stage: Stage | null): Promise<string>;
  /** Copies a selection in a transaction of its own, as `TableInput.copy`. */
  copy(selection: Selection, to: CopyTarget | null, options: CopyOptions): Promise<CopiedTable>;
  /** Moves committed data to its final place, after a transaction; for files only. */
  settle?(): Promise<void>;
  close(): Promise<void>;
}

/** Runs a statement with values for `$1`, `$2` … and returns its rows as arrays. */
export type Query = (
  sql: string,
  values?: readonly (string | number | null)[],
) => Promise<readonly (readonly (string | bigint | boolean | null)[])[]>;

export interface FoundTable extends TableName {
  /** What it is instead of a table, for messages; null for a table. */
  readonly notTable: string | null;
}

export interface FoundColumn {
  readonly name: string;
  readonly type: string;
  /** Whether each new row needs a value: the column is NOT NULL, and nothing else fills it. */
  readonly isRequired: boolean;
}

/** A table that is an output. */
export interface TableTarget extends Pick<TableAddress, "table"> {
  readonly dialect: Dialect;
  /** For messages. */
  readonly name: string;
  readonly connect: (options: ConnectOptions) => Promise<TableDatabase>;
}

interface ParameterRules {
  readonly known: readonly string[];
  /** Name of the address for messages, without a password. */
  readonly name: string;
  readonly hint: string;
}

/** @throws UsageError `bad_output` for parameters that are unknown or repeated */
export function checkParameters(
  parameters: URLSearchParams,
  { known, name: address, hint }: ParameterRules,
): void {
  const names = [...parameters.keys()];
  const wrong = names.find((name, at) => !known.includes(name) || names.indexOf(name) < at);
  if (wrong === undefined) return;
  // After an unencoded password, the name may be part of it.
  const name = names.some((each) => each.endsWith("password")) ? "" : ` ${JSON.stringify(wrong)}`;
  const what = known.includes(wrong) ? "a repeated" : "an unknown";
  throw new UsageError("bad_output", `${address} has ${what} parameter${name}`, { hint });
}

/**
 * How often to try, a second apart, to open a file to which another run may be publishing: less often
 * at the start of a run, where a person may be waiting.
 */
const attempts = { read: 1, check: 10, write: 60 };

export async function withDatabase<R>(
  { connect }: Pick<TableTarget, "connect">,
  options: ConnectOptions,
  use: (database: TableDatabase) => Promise<R>,
): Promise<R> {
  const { access, clock = systemClock, signal } = options;
  let database: TableDatabase | null = null;
  for (let attempt = 1; database === null; attempt++) {
    try {
      database = await connect(options);
    } catch (error) {
      const isLocked = error instanceof FatalError && error.code === "output_locked";
      if (!isLocked || attempt === attempts[access]) throw error;
      await clock.sleep(1_000, signal);
    }
  }
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}
