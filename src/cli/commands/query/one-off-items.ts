import { createInterface } from "node:readline";
import { UsageError } from "../../../core/errors.js";
import type { CliContext } from "../../terminal/cli-context.js";

/**
 * The items to look up. `-`, or no operand with piped stdin, reads lines from stdin; blank lines and
 * `#` comments are skipped.
 *
 * @throws UsageError if there are none
 */
export function oneOffItems(
  operands: readonly string[],
  context: CliContext,
  signal: AbortSignal,
): AsyncIterable<string> {
  if (operands.length === 0 && context.stdin().isTTY === true) {
    throw new UsageError("item_missing", "nothing to look up", {
      hint: "name an item, or pipe items in, one per line",
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
