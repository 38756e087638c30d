import { UsageError } from "../../core/errors.js";
import type { SourceInput } from "../../inputs/types.js";
import type { CliContext } from "../command.js";

/**
 * The input that the arguments of `enrich` name: a file, or stdin.
 *
 * @throws UsageError for more than one, and for none where stdin is a terminal
 */
export function enrichInput(operands: readonly string[], context: CliContext): SourceInput {
  const [path = "-", ...more] = operands;
  if (more.length > 0) {
    throw new UsageError("too_many_inputs", `one input at a time; got ${operands.join(" ")}`, {
      hint: "join files of one shape before, or run once for each; quote a name that holds spaces",
    });
  }
  if (path !== "-") return { path };
  const stdin = context.stdin();
  if (operands.length === 0 && stdin.isTTY === true) {
    throw new UsageError("input_missing", "there is no input", {
      hint: "name a file, or pipe rows in; a lone - reads what you type",
    });
  }
  return { stream: stdin, name: "stdin" };
}
