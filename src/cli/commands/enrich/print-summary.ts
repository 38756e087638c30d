import { shellWord } from "../../../core/text/quantity.js";
import { defaultPrefix } from "../../../outputs/options.js";
import type { FailOn } from "../../../run/failure-limits.js";
import type { Manifest } from "../../../core/manifest.js";
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
  const prose = (manifest.unsupported["prose"] ?? 0) + (manifest.unsupported["several"] ?? 0);
  if (prose * 2 > manifest.input.rows) {
    const { path } = manifest.input;
    const from = path === null ? "" : ` ${shellWord(path)}`;
    context.reporter.warning(
      `more than half of the rows are text with items inside; find them with: repute extract${from} | repute enrich - -o OUT`,
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
