import {
  FatalError,
  ReputeError,
  UsageError,
  startOver,
  continueRun,
} from "../../../core/errors.js";

/** Transient SQLSTATEs: the server is stopping, starting or full, or aborted this transaction. */
const transient: ReadonlySet<string> = new Set([
  "25006", // read_only_sql_transaction: a standby about to be promoted
  "25P03", // idle_in_transaction_session_timeout
  "40001", // serialization_failure
  "40P01", // deadlock_detected
  "53300", // too_many_connections
  "55P03", // lock_not_available
  "57014", // query_canceled: statement_timeout
  "57P01", // admin_shutdown, pg_terminate_backend
  "57P02", // crash_shutdown
  "57P03", // cannot_connect_now: starting up
  "57P05", // idle_session_timeout
]);

/** Whether a code is that of a system error, such as ECONNREFUSED: the connection is broken or unavailable. */
const isSystemError = (code: string): boolean => /^E(?!RR_)[A-Z_]+$/.test(code);

/** pg's messages for a lost connection, which have no code. */
const gone =
  /^(?:Connection terminated|Client has encountered|Client was closed|timeout expired|Query read timeout)/;

/** The SQLSTATE or system error code; "" if there is none. */
function faultCode(error: unknown): string {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "";
}

const busy: ReadonlySet<string> = new Set(["53300", "55P03", "57P01", "57P02", "57P03"]);

/** True if the server runs but is starting, stopping, full, or still busy for a lost client. */
export function isStarting(error: unknown): boolean {
  return busy.has(faultCode(error));
}

/** True if a retry on a new connection can succeed (PostgreSQL manual, appendix A). */
export function isTransient(error: unknown): boolean {
  const code = faultCode(error);
  if (code === "") return error instanceof Error && gone.test(error.message);
  return transient.has(code) || isSystemError(code) || (code.length === 5 && code.startsWith("08"));
}

const passwordHint =
  "set the password in the address, PGPASSWORD or ~/.pgpass; the first one found is used";

export function serverFault(error: unknown, display: string): Error {
  if (error instanceof ReputeError) return error;
  const code = faultCode(error);
  const text = textOf(error);
  const options = { cause: error };
  if (isSystemError(code) || gone.test(text)) {
    return new FatalError("database_unreachable", `cannot reach ${display}: ${text}`, {
      ...options,
      hint: "check that the server is running and accepts connections from this machine",
    });
  }
  if (code === "28P01" || code === "28000" || text.startsWith("SASL")) {
    const reason = text.startsWith("SASL") ? "it requires a password" : text;
    return new UsageError("database_login", `${display} rejected the login: ${reason}`, {
      ...options,
      hint: passwordHint,
    });
  }
  if (text.includes("does not support SSL")) {
    return new UsageError("database_tls", `${display}: ${text}`, {
      ...options,
      hint: "leave sslmode out of the address, or set sslmode=disable",
    });
  }
  if (code === "23505") {
    const { constraint = "" } = error as { readonly constraint?: string };
    const reason = `${display} has rows with the same values of its unique key ${constraint}`;
    const hint = `if the key is yours, drop it and ${continueRun}; otherwise ${startOver}`;
    return new FatalError("output_table_differs", reason, { ...options, hint });
  }
  const [Kind, name, hint] = faults[code] ?? [FatalError, "database_error"];
  const more = hint === undefined ? options : { ...options, hint };
  return new Kind(name, `${display}: ${text}`, more);
}

type ServerFault = readonly [
  Kind: typeof UsageError | typeof FatalError,
  code: string,
  hint?: string,
];

const faults: Readonly<Record<string, ServerFault>> = {
  "3D000": [UsageError, "database_missing", "create the database first, or name another one"],
  "3F000": [UsageError, "schema_missing", "create the schema first: CREATE SCHEMA …"],
  "42P01": [UsageError, "table_not_found", "check the name; it may need its schema"],
  "42703": [
    UsageError,
    "not_an_output",
    "name an output of repute; if its columns have another prefix than rep_, pass --prefix",
  ],
  "53100": [FatalError, "database_full", `free some disk space on the server, then ${continueRun}`],
  "54011": [UsageError, "too_many_columns", "remove columns from the input"],
  "42501": [
    UsageError,
    "database_denied",
    "the user needs SELECT and INSERT on the table (for --mode merge and a retry also UPDATE, for --mode replace also DELETE), SELECT, INSERT and UPDATE on NAME_runs, TEMPORARY on the database, and CREATE in the schema if a table does not exist; `repute schema --format postgres` prints the table for its owner",
  ],
};

/** The error's message plus the column or constraint concerned; never a row's values. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { column, constraint } = error as { column?: string; constraint?: string };
  // A host with several addresses fails with an AggregateError, whose message is empty.
  const text = error.message === "" ? faultCode(error) : error.message;
  const about = column ?? constraint;
  return about === undefined || text.includes(about) ? text : `${text} (${about})`;
}
