import { joinedEntries } from "../formats/joined-entries.js";
import type { EarlierRecord } from "../formats/types.js";
import { cellOf, type InputValue } from "../outputs/tables/values.js";

/**
 * A record of the typed values of a row.
 *
 * @param added names of the first values' columns, without the prefix; the others are the input's own
 */
export function typedRecord(
  added: readonly string[],
  values: readonly InputValue[],
): EarlierRecord {
  const text = (name: string): string => textOf(values[added.indexOf(name)] ?? null);
  return {
    text,
    list: (name) => joinedEntries(text(name)),
    cells: values.slice(added.length).map(textOf),
    json: null,
    extra: text("extra") || null,
  };
}

function textOf(value: InputValue): string {
  return Array.isArray(value) ? value.map(textOf).join("|") : cellOf(value);
}
