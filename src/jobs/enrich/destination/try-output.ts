import type { Clock } from "../../../core/clock.js";
import type { Output } from "../../../io/output/output.js";
import { inGroups } from "../options.js";
import { chooseOutput } from "./choose-output.js";

/**
 * Checks the output of a run before there is one: what a run checks before its first request, as far as
 * no input is needed. A table is loaded with no rows. Leaves nothing behind.
 *
 * @throws ReputeError
 */
export async function tryOutput(
  settings: Parameters<typeof inGroups>[0],
  context: { readonly signal: AbortSignal; readonly clock: Clock },
): Promise<Output> {
  const { input, output: own, run } = inGroups(settings);
  const { output, table, prefix, raw, columns: only } = own;
  const { upload } = await chooseOutput({ ...own, ...run }, async () => "csv", []);
  upload?.cleanEmpty();
  if (!output.isTable) return output;
  const { name } = output;
  const columns = table.key?.filter((column) => !column.startsWith(prefix)) ?? [];
  const optional = { column: [input.itemColumn ?? []].flat().length > 1, raw, only };
  const empty = { file: null, base: null, runId: "", folder: "", text: null, columns, optional };
  const publisher = await output.publisher({ ...empty, ...table, ...context, name, prefix });
  await publisher.check(() => ({ header: "", encode: () => "" }));
  return output;
}
