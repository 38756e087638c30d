import { addedColumns } from "../core/columns.js";
import { formats } from "../formats/registry.js";
import type { Encoder } from "../formats/types.js";
import type { SinkSettings } from "../outputs/options.js";
import type { EarlierShape } from "./earlier-output.js";
import type { EarlierRow } from "./earlier-record.js";

/** Writes unchanged rows verbatim, and encodes the others. */
export function copyingEncoder(
  encoder: Encoder,
  output: EarlierShape,
  settings: Pick<SinkSettings, "prefix">,
): Encoder {
  // The members of an input object go verbatim before the added ones, which are encoded without
  // columns.
  const ours = formats.ndjson.write({
    columns: [],
    prefix: settings.prefix,
    shape: output.shape,
    added: addedColumns(output.optional),
    formulaGuard: false,
  });
  return {
    ...encoder,
    header: output.header,
    encode: (rows) =>
      rows
        .map((enriched) => {
          const row = enriched.row as EarlierRow;
          if (enriched.finding === row.earlier) return row.text;
          if (row.json === null) return encoder.encode([enriched]);
          const added = ours.encode([{ ...enriched, row: plainRow(row) }]);
          const members = row.json.slice(1, -1);
          return members === "" ? added : `{${members},${added.slice(1)}`;
        })
        .join(""),
  };
}

function plainRow(row: EarlierRow): EarlierRow {
  return { ...row, json: null, cells: [] };
}
