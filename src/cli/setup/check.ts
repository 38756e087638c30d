import type { ReputeError } from "../../core/errors.js";
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

/** What a run would print about an error. */
export function failWith(check: string, { message, hint }: ReputeError): Check {
  return fail(check, message, hint);
}
