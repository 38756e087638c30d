import { shellWord } from "../../../core/text/quantity.js";
import { defaultPrefix } from "../../../outputs/options.js";
import type { FailOn } from "../../../run/failure-limits.js";
import type { Manifest } from "../../../core/manifest/manifest.js";
import { exitCodes } from "../../exit-code.js";
import type { CommandCall } from "../../command.js";
import type { SummarySettings } from "./summary.js";
import type { ColorChoice } from "../../terminal/colors.js";

type SummaryCall = Pick<
  CommandCall<
    SummarySettings & {
      readonly json: boolean;
      readonly quiet: boolean;
      readonly failOn: FailOn;
      readonly color: ColorChoice;
    }
  >,
  "settings" | "context"
>;

/**
 * Prints the summary as text, or with `--quiet` a warning if rows failed. As JSON, the end of the
 * command has it.
 */
export async function printSummary(
  manifest: Manifest,
  { settings, context }: SummaryCall,
): Promise<void> {
  const { json, quiet, color, failOn, prefix = defaultPrefix } = settings;
  if (quiet && manifest.exit_code === exitCodes.rowsFailed) {
    const { countedRows } = await import("./failed-rows.js");
    context.reporter.warning(countedRows(manifest, failOn, prefix));
  }
  if (isProse(manifest)) {
    const { path } = manifest.input;
    const from = path === null || path === "-" || path === "stdin" ? "" : ` ${shellWord(path)}`;
    context.reporter.warning(
      `most rows are text with items inside; to find them: repute extract${from} | repute enrich - -o OUT`,
    );
  }
  if (json || quiet || context.reporter.format === "json") return;
  const [{ formatSummary }, { paintSummary, usesColor }] = await Promise.all([
    import("./summary.js"),
    import("../../terminal/colors.js"),
  ]);
  const text = formatSummary(manifest, context.reporter.width ?? 100, settings);
  const isColored = usesColor(color, context.env, context.stderr);
  context.reporter.print(text, isColored ? paintSummary : undefined);
}

/** Whether most rows are text, and a fifth of them or more have an item inside, as wrapped lines do. */
function isProse({ unsupported, input }: Manifest): boolean {
  const { prose = 0, several = 0, text = 0 } = unsupported;
  const withItems = prose + several;
  return (withItems + text) * 2 > input.rows && withItems * 5 >= input.rows;
}
