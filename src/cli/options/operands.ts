import { UsageError } from "../../core/errors.js";
import type { Command } from "../command.js";

/** @throws UsageError for arguments of a command that takes none, and for all but one of one that takes one */
export function checkOperands(command: Command, operands: readonly string[]): void {
  const { name, onlyOperand } = command;
  if (command.operands.length === 0) noOperands(name, operands);
  if (onlyOperand === undefined) return;
  const { what, hint } = onlyOperand;
  if ((operands[0] ?? "").trim() === "") {
    const options = hint === undefined ? {} : { hint };
    throw new UsageError("argument_missing", `${name} needs ${what}`, options);
  }
  if (operands.length > 1) {
    throw new UsageError(
      "too_many_arguments",
      `${name} takes ${what} and nothing else; got ${operands.join(" ")}`,
      { hint: "quote what holds spaces" },
    );
  }
}

/** @throws UsageError when there are arguments */
export function noOperands(command: string, operands: readonly string[]): void {
  if (operands.length === 0) return;
  throw new UsageError(
    "too_many_arguments",
    `${command} takes no argument; got ${operands.join(" ")}`,
  );
}
