import type { ErrorCode } from "../../core/error-codes.js";
import { FatalError, ReputeError, UsageError } from "../../core/errors.js";

/** States that pass by themselves: the server stops, starts, is full, or chose this one to wait. */
const passing: ReadonlySet<string> = new Set([
  "25006", // read_only_sql_transaction: a standby that is about to take over
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

/** System errors of a connection that broke or cannot be made at the moment. */
const network: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENETDOWN",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENOENT", // the server's socket file
]);

/** What pg says of a connection that is gone, without a code. */
const gone =
  /^(?:Connection terminated|Client has encountered|Client was closed|timeout expired|Query read timeout)/;

/** The SQLSTATE of a server's error, or the system's code; "" for neither. */
function faultCode(error: unknown): string {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "";
}

const busy: ReadonlySet<string> = new Set(["53300", "55P03", "57P01", "57P02", "57P03"]);

/**
 * True when the server is there but starting, stopping, full, or still at work for a client that is
 * gone.
 */
export function isBusy(error: unknown): boolean {
  return busy.has(faultCode(error));
}

/** True when the same transaction can succeed on another connection, or later (Appendix A). */
export function isPassing(error: unknown): boolean {
  const code = faultCode(error);
  if (code === "") return error instanceof Error && gone.test(error.message);
  return passing.has(code) || network.has(code) || (code.length === 5 && code.startsWith("08"));
}

const passwordHint =
  "the password is taken from the address, PGPASSWORD or ~/.pgpass, in this order";

/** Explains what a server or the way to it came to; what is explained already passes. */
export function serverFault(error: unknown, display: string): Error {
  if (error instanceof ReputeError) return error;
  const code = faultCode(error);
  const text = textOf(error);
  const options = { cause: error };
  if (network.has(code) || gone.test(text)) {
    return new FatalError("database_unreachable", `cannot reach ${display}: ${text}`, {
      ...options,
      hint: "check that the server runs and takes connections from here",
    });
  }
  if (code === "28P01" || code === "28000" || text.startsWith("SASL")) {
    const reason = text.startsWith("SASL") ? "it wants a password that was not given" : text;
    return new UsageError("database_login", `${display} refuses the login: ${reason}`, {
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
    const reason = `${display} has rows of this run that this run did not write`;
    const hint = "start anew with --restart";
    return new FatalError("output_table_differs", reason, { ...options, hint });
  }
  const [Kind, name, hint] = faults[code] ?? [FatalError, "database_error"];
  const more = hint === undefined ? options : { ...options, hint };
  return new Kind(name, `${display}: ${text}`, more);
}

type Fault = readonly [Kind: typeof UsageError | typeof FatalError, code: ErrorCode, hint?: string];

const faults: Readonly<Record<string, Fault>> = {
  "3D000": [UsageError, "database_missing", "create the database first, or name another one"],
  "3F000": [UsageError, "schema_missing", "create the schema first: CREATE SCHEMA …"],
  "42703": [UsageError, "not_an_output", "columns that begin otherwise than rep_ need --prefix"],
  "53100": [FatalError, "database_full", "make room on the server, then go on with --resume"],
  "54011": [UsageError, "too_many_columns", "leave columns out of the input"],
  "42501": [
    UsageError,
    "database_denied",
    "the user needs SELECT, INSERT and DELETE on the table and on repute_checkpoint, and CREATE in the schema while they are missing; `repute schema --format postgres` prints the table for its owner",
  ],
};

/** The message, with the column or constraint that it is about; never the values of a row. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { column, constraint } = error as { column?: string; constraint?: string };
  // A host with several addresses gives one error for all, whose message is empty.
  const text = error.message === "" ? faultCode(error) : error.message;
  const about = column ?? constraint;
  return about === undefined || text.includes(about) ? text : `${text} (${about})`;
}
