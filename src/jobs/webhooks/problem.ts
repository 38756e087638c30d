import { UsageError } from "../../core/errors.js";
import { quoted } from "../../core/wording/printable.js";

export interface Problem {
  /** `error`: the webhook cannot be sent. `warning`: it can, but probably not as intended. */
  readonly level: "error" | "warning";
  /** Stable, lower case with underscores: `unknown_field`, `static_data`, `bad_path` … */
  readonly code: string;
  /** Contains neither secrets nor subscriber data. */
  readonly message: string;
  /** Place in the webhook as a JSON pointer (RFC 6901), such as `/payload/customer/email`. */
  readonly pointer: string;
}

export function errorAt(pointer: string, code: string, message: string): Problem {
  return { level: "error", code, message, pointer };
}

export function warningAt(pointer: string, code: string, message: string): Problem {
  return { level: "warning", code, message, pointer };
}

/** A webhook that cannot be rendered or sent. `code` is that of the first problem. */
export class WebhookError extends UsageError {
  readonly problems: readonly Problem[];

  constructor(problems: readonly [Problem, ...Problem[]], name?: string) {
    super(
      problems[0].code,
      (name === undefined ? "" : `webhook ${quoted(name)}: `) + tell(problems),
    );
    this.problems = problems;
  }
}

/**
 * Throws if any problem is an error.
 *
 * @param name name of the webhook, for the message
 * @throws WebhookError
 */
export function throwErrors(problems: readonly Problem[], name?: string): void {
  const [first, ...rest] = problems.filter((problem) => problem.level === "error");
  if (first) throw new WebhookError([first, ...rest], name);
}

/** Appends a step to a JSON pointer (RFC 6901 section 3). */
export function childPointer(pointer: string, member: string | number): string {
  return `${pointer}/${String(member).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

function tell(problems: readonly [Problem, ...Problem[]]): string {
  if (problems.length === 1) return sentence(problems[0]);
  const shown = problems.map((problem) => `\n  ${sentence(problem)}`);
  return `${problems.length} problems${shown.join("")}`;
}

function sentence(problem: Problem): string {
  return problem.pointer === "" ? problem.message : `${problem.pointer}: ${problem.message}`;
}
