import { UsageError } from "../../core/errors.js";

/** @throws UsageError when there are arguments */
export function noOperands(command: string, operands: readonly string[]): void {
  if (operands.length === 0) return;
  throw new UsageError(
    "too_many_arguments",
    `${command} takes no argument; got ${operands.join(" ")}`,
  );
}

/**
 * The one argument of a command.
 *
 * @param what as in "the name of a tag"
 * @throws UsageError when there is none, or more than one
 */
export function oneOperand(
  command: string,
  what: string,
  operands: readonly string[],
  hint?: string,
): string {
  const [operand = "", ...more] = operands;
  const options = hint === undefined ? {} : { hint };
  if (operand.trim() === "") {
    throw new UsageError("argument_missing", `${command} needs ${what}`, options);
  }
  if (more.length > 0) {
    throw new UsageError(
      "too_many_arguments",
      `${command} takes ${what} and nothing else; got ${operands.join(" ")}`,
      { hint: "quote what holds spaces" },
    );
  }
  return operand;
}
