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
