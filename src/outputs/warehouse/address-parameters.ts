import { didYouMean } from "../../core/did-you-mean.js";
import { UsageError } from "../../core/errors.js";

/** What an output's address may have behind its `?`. */
export interface ParameterRules {
  readonly known: readonly string[];
  /** What to call the address in messages: no password. */
  readonly display: string;
  readonly hint: string;
}

/**
 * Refuses parameters that would have no effect, and a parameter given twice. Values are never shown.
 *
 * @throws UsageError `bad_output`
 */
export function checkParameters(
  parameters: URLSearchParams,
  { known, display, hint }: ParameterRules,
): void {
  const names = [...parameters.keys()];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const meant = didYouMean(unknown, known);
    // Behind a password that is not encoded, a parameter's name may be a part of it.
    const isSafe = meant !== null || !names.some((name) => name.endsWith("password"));
    const name = isSafe ? ` ${JSON.stringify(unknown)}` : "";
    const near = meant === null ? "" : ` (did you mean ${meant}?)`;
    throw new UsageError("bad_output", `${display} has an unknown parameter${name}${near}`, {
      hint,
    });
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    throw new UsageError("bad_output", `${display} has the parameter ${twice} twice`, { hint });
  }
}

/** Parameters of a PostgreSQL address that reach the server or the driver. */
export const postgresParameters = [
  "table",
  "host",
  "port",
  "user",
  "password",
  "options",
  "application_name",
  "fallback_application_name",
  "client_encoding",
  "sslmode",
  "sslcert",
  "sslkey",
  "sslrootcert",
  "sslnegotiation",
] as const;
