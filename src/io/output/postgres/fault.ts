import {
  continueRun,
  FatalError,
  ReputeError,
  startOver,
  UsageError,
} from "../../../core/errors.js";

/** A message of ours, where the server's is not enough, comes last. */
type ServerFault = readonly [
  code: string,
  hint: string,
  Kind?: typeof UsageError,
  says?: (name: string, text: string) => string,
];

const loginHint =
  "set the password in the address, PGPASSWORD or ~/.pgpass; the first one found is used";
const rejects = (name: string, text: string): string => `${name} rejected the login: ${text}`;
const login: ServerFault = ["database_login", loginHint, UsageError, rejects];
const noPassword: typeof rejects = (name) => rejects(name, "it requires a password");

/** By SQLSTATE (PostgreSQL manual, appendix A), and faults of the driver by a name of ours. */
const faults: Readonly<Record<string, ServerFault>> = {
  unreachable: [
    "database_unreachable",
    "check that the server is running and accepts connections from this machine",
    FatalError,
    (name, text) => `cannot reach ${name}: ${text}`,
  ],
  "28000": login,
  "28P01": login,
  SASL: ["database_login", loginHint, UsageError, noPassword],
  SSL: ["database_tls", "leave sslmode out of the address, or set sslmode=disable", UsageError],
  "23505": [
    "output_table_differs",
    `if the key is yours, drop it and ${continueRun}; otherwise ${startOver}`,
    FatalError,
    (name, text) => `${name} has rows with the same values of its unique key: ${text}`,
  ],
  "3D000": ["database_missing", "create the database first, or name another one", UsageError],
  "3F000": ["schema_missing", "create the schema first: CREATE SCHEMA …", UsageError],
  "42P01": ["table_not_found", "check the name; it may need its schema", UsageError],
  "53100": ["database_full", `free some disk space on the server, then ${continueRun}`],
  "54011": ["too_many_columns", "remove columns from the input", UsageError],
  "42501": [
    "database_denied",
    "the user needs SELECT and INSERT on the table (for --mode merge and a retry also UPDATE, for --mode replace also DELETE), SELECT, INSERT and UPDATE on NAME_runs, TEMPORARY on the database, and CREATE in the schema if a table does not exist; `repute schema --format postgres` prints the table for its owner",
    UsageError,
  ],
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
  const unknown = ["database_error", undefined] as const;
  const [code, hint, Kind = FatalError, says] = faults[stateOf(error)] ?? unknown;
  return new Kind(code, says?.(name, text) ?? `${name}: ${text}`, { cause: error, hint });
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
