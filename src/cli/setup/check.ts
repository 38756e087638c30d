import { ReputeError } from "../../core/errors.js";
import type { SessionSettings } from "../../session/types.js";
import type { CommandCall } from "../command.js";
import type { ServiceChoice } from "../services/services.js";

/** A call of `repute doctor`. */
export type DoctorCall = CommandCall<
  ServiceChoice &
    Omit<SessionSettings, "retries"> & {
      readonly output: string;
      readonly json: boolean;
      readonly profile?: string | undefined;
    }
>;

/** One line of `repute doctor`. */
export interface Check {
  readonly check: string;
  readonly status: "ok" | "warn" | "fail";
  /** What was found. */
  readonly finding: string;
  /** What to do about it; null for nothing. */
  readonly remedy: string | null;
}

export function ok(check: string, finding: string): Check {
  return { check, status: "ok", finding, remedy: null };
}

export function warn(check: string, finding: string, remedy: string): Check {
  return { check, status: "warn", finding, remedy };
}

export function fail(check: string, finding: string, remedy: string | null): Check {
  return { check, status: "fail", finding, remedy };
}

/** Message and remedy of an error, for a line. */
export function failWith(check: string, error: unknown): Check {
  if (!(error instanceof ReputeError)) throw error;
  return fail(check, error.message, error.hint);
}
