import {
  continueRun,
  FatalError,
  ReputeError,
  startOver,
  UsageError,
} from "../../../core/errors.js";

interface ServerFault {
  readonly Kind?: typeof UsageError;
  readonly code: string;
  readonly says?: (name: string, text: string) => string;
  readonly hint: string;
}

const login: ServerFault = {
  Kind: UsageError,
  code: "database_login",
  says: (name, text) => `${name} rejected the login: ${text}`,
  hint: "set the password in the address, PGPASSWORD or ~/.pgpass; the first one found is used",
};

/** By SQLSTATE (PostgreSQL manual, appendix A), and faults of the driver by a name of ours. */
const faults: Readonly<Record<string, ServerFault>> = {
  unreachable: {
    code: "database_unreachable",
    says: (name, text) => `cannot reach ${name}: ${text}`,
    hint: "check that the server is running and accepts connections from this machine",
  },
  "28000": login,
  "28P01": login,
  SASL: { ...login, says: (name) => `${name} rejected the login: it requires a password` },
  SSL: {
    Kind: UsageError,
    code: "database_tls",
    hint: "leave sslmode out of the address, or set sslmode=disable",
  },
  "23505": {
    code: "output_table_differs",
    says: (name, text) => `${name} has rows with the same values of its unique key: ${text}`,
    hint: `if the key is yours, drop it and ${continueRun}; otherwise ${startOver}`,
  },
  "3D000": {
    Kind: UsageError,
    code: "database_missing",
    hint: "create the database first, or name another one",
  },
  "3F000": {
    Kind: UsageError,
    code: "schema_missing",
    hint: "create the schema first: CREATE SCHEMA …",
  },
  "42P01": {
    Kind: UsageError,
    code: "table_not_found",
    hint: "check the name; it may need its schema",
  },
  "53100": {
    code: "database_full",
    hint: `free some disk space on the server, then ${continueRun}`,
  },
  "54011": { Kind: UsageError, code: "too_many_columns", hint: "remove columns from the input" },
  "42501": {
    Kind: UsageError,
    code: "database_denied",
    hint: "the user needs SELECT and INSERT on the table (for --mode merge and a retry also UPDATE, for --mode replace also DELETE), SELECT, INSERT and UPDATE on NAME_runs, TEMPORARY on the database, and CREATE in the schema if a table does not exist; `repute schema --format postgres` prints the table for its owner",
  },
};

/** The server is full, busy for a lost client, stopping or starting. */
const starting: ReadonlySet<string> = new Set(["53300", "55P03", "57P01", "57P02", "57P03"]);

/** A connection exception, a lost transaction, or a standby about to be promoted. */
const lost = /^(?:unreachable|08...|25006|25P03|40001|40P01|57014|57P05)$/;

/** pg's messages for a lost connection, which have no code. */
const gone =
  /^(?:Connection terminated|Client has encountered|Client was closed|timeout expired|Query read timeout)/;

/** The SQLSTATE of a fault, or a name of ours for one of the driver. */
function stateOf(error: unknown): string {
  const code = codeOf(error);
  const text = error instanceof Error ? error.message : "";
  // A system error, such as ECONNREFUSED.
  if (/^E(?!RR_)[A-Z_]+$/.test(code) || (code === "" && gone.test(text))) return "unreachable";
  if (text.startsWith("SASL")) return "SASL";
  return text.includes("does not support SSL") ? "SSL" : code;
}

function codeOf(error: unknown): string {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "";
}

/** True if the server runs but is starting, stopping, full, or still busy for a lost client. */
export function isStarting(error: unknown): boolean {
  return starting.has(stateOf(error));
}

/** True if a retry on a new connection can succeed. */
export function isTransient(error: unknown): boolean {
  return isStarting(error) || lost.test(stateOf(error));
}

export function serverFault(error: unknown, name: string): Error {
  if (error instanceof ReputeError) return error;
  const text = textOf(error);
  const fault = faults[stateOf(error)];
  const message = fault?.says?.(name, text) ?? `${name}: ${text}`;
  const Kind = fault?.Kind ?? FatalError;
  return new Kind(fault?.code ?? "database_error", message, { cause: error, hint: fault?.hint });
}

/** The error's message plus the column or constraint concerned; never a row's values. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { column, constraint } = error as { column?: string; constraint?: string };
  // A host with several addresses fails with an AggregateError, whose message is empty.
  const text = error.message === "" ? codeOf(error) : error.message;
  const about = column ?? constraint;
  return about === undefined || text.includes(about) ? text : `${text} (${about})`;
}
