import { createInterface } from "node:readline";
import { UsageError } from "../../core/errors.js";
import type { CliContext } from "../command.js";

/**
 * The items that the arguments name; `-`, or no argument where something is piped in, stands for
 * the lines of stdin, blank ones and those that begin with `#` left out.
 *
 * @throws UsageError when there is none
 */
export function oneOffItems(
  operands: readonly string[],
  context: CliContext,
  signal: AbortSignal,
): AsyncIterable<string> {
  if (operands.length === 0 && context.stdin().isTTY === true) {
    throw new UsageError("item_missing", "there is nothing to look up", {
      hint: "name at least one item, or pipe items in, one a line",
    });
  }
  return readItems(operands.length === 0 ? ["-"] : operands, context, signal);
}

async function* readItems(
  operands: readonly string[],
  context: CliContext,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  for (const operand of operands) {
    if (operand === "-") yield* stdinLines(context, signal);
    else yield operand;
  }
}

async function* stdinLines(
  context: CliContext,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const lines = createInterface({
    input: context.stdin(),
    crlfDelay: Number.POSITIVE_INFINITY,
    signal,
  });
  for await (const line of lines) {
    const text = line.trim();
    if (text !== "" && !text.startsWith("#")) yield text;
  }
  signal.throwIfAborted();
}
