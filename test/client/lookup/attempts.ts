import type { Again, Attempt, Finding, JsonObject } from "../../../src/core/finding.js";
import * as findings from "./findings.js";

export { item, otherItem, scripted, unaborted } from "./findings.js";

/** Attempts that stay open until answered by hand. */
export const held = findings.held<Attempt>;

export function attempt(finding: Finding, again: Again | null = null): Attempt {
  const { httpStatus, error } = finding;
  const outcome = httpStatus === null ? (error?.code ?? "") : String(httpStatus);
  return { finding, outcome, again, drift: [] };
}

export function complete(result?: JsonObject): Attempt {
  return attempt(findings.complete(result));
}

export function quick(): Attempt {
  return attempt(findings.quick());
}

export function partial(result: JsonObject, missing: readonly string[]): Attempt {
  return attempt(findings.partial(result, missing), { policy: "partial", afterMs: null });
}

/** An attempt without an answer; final unless a policy is given. */
export function failed(
  code: string,
  policy: Again["policy"] | null = null,
  afterMs: number | null = null,
  httpStatus: number | null = null,
): Attempt {
  return attempt(findings.failed(code, httpStatus), policy && { policy, afterMs });
}

export function invalid(): Attempt {
  return attempt(findings.invalid());
}
