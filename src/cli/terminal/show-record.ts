import type { CliContext } from "../command.js";
import { wantsLines, writeText } from "./data-output.js";
import { formatBytes, formatCount } from "./quantity.js";
import { showFields } from "./record-fields.js";

type ShowCall = {
  readonly settings: { readonly json: boolean };
  readonly context: CliContext;
};

/** Shows one record: a line of JSON, or field by field on a terminal. */
export async function showRecord({ settings, context }: ShowCall, record: object): Promise<void> {
  if (wantsLines(settings.json, context)) await writeText(context, `${JSON.stringify(record)}\n`);
  else await showFields(context, record);
}

/** The same for a record of counts: on a terminal they have the units of the summary. */
export async function showCounts(call: ShowCall, record: object): Promise<void> {
  const shown = wantsLines(call.settings.json, call.context) ? record : withUnits(record);
  await showRecord(call, shown);
}

function withUnits(record: object): object {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => {
      if (typeof value === "object" && value !== null) return [name, withUnits(value)];
      if (typeof value !== "number") return [name, value];
      return [name, name === "bytes" ? formatBytes(value) : formatCount(value)];
    }),
  );
}
