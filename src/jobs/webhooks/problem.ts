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

/** A path as a JSON pointer (RFC 6901 section 3). */
export function pointerOf(path: readonly PropertyKey[]): string {
  return path
    .map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
}

function tell(problems: readonly Problem[]): string {
  const sentences = problems.map(({ pointer, message }) =>
    pointer === "" ? message : `${pointer}: ${message}`,
  );
  return sentences.length === 1
    ? sentences.join("")
    : [`${sentences.length} problems`, ...sentences].join("\n  ");
}
