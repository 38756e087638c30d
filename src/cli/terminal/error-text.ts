import { ReputeError, UsageError } from "../../core/errors.js";

export interface ErrorTextOptions {
  /** Name of the command, for the pointer to its help; null when none was recognised. */
  readonly command: string | null;
  /** Show where in the program the error arose. */
  readonly debug: boolean;
}

/** What a person is told about an error: what and where, what to do, and where help is. */
export function errorText(error: unknown, options: ErrorTextOptions): string {
  const lines = explain(error);
  if (error instanceof UsageError) {
    lines.push(`  see: repute ${options.command === null ? "" : `${options.command} `}--help`);
  }
  if (options.debug) lines.push(...stacks(error));
  return lines.join("\n");
}

function explain(error: unknown): string[] {
  if (error instanceof ReputeError) {
    const lines = error.message.split("\n").map((line) => `repute: ${line}`);
    return error.hint === null ? lines : [...lines, `  ${error.hint}`];
  }
  const message = error instanceof Error ? error.message : String(error);
  return [
    `repute: unexpected error: ${message}`,
    "  this is a fault of repute itself; REPUTE_DEBUG=1 shows where it arose",
  ];
}

/** The stack of an error and of every error underneath. */
function stacks(error: unknown): string[] {
  const texts: string[] = [];
  for (let inner = error; inner instanceof Error; inner = inner.cause) {
    texts.push(inner.stack ?? inner.message);
  }
  return texts;
}
