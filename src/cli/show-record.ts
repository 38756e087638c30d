import type { CliContext } from "./command.js";
import { wantsLines, writeText } from "./data-output.js";
import { showFields } from "./record-fields.js";

/** Shows one record: a line of JSON, or field by field on a terminal. */
export async function showRecord(
  {
    settings,
    context,
  }: { readonly settings: { readonly json: boolean }; readonly context: CliContext },
  record: object,
): Promise<void> {
  if (wantsLines(settings.json, context)) await writeText(context, `${JSON.stringify(record)}\n`);
  else await showFields(context, record);
}
