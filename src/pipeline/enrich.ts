import { parseKindName } from "../core/item/kind-names.js";
import { recogniseItem } from "../core/item/recognise.js";
import { detectSourceFormat } from "../sources/detect-format.js";
import { sources } from "../sources/registry.js";
import { beginRow } from "./begin-row.js";
import { execute } from "./execute.js";
import type { EnrichJob, Manifest } from "./types.js";

/**
 * The main job: reads every row of the input, looks its item up and writes the enriched row.
 *
 * @throws UsageError when the job cannot begin, FatalError when it cannot go on, InterruptedError
 */
export function enrich(job: EnrichJob): Promise<Manifest> {
  const { input, settings } = job;
  const detected = "path" in input ? detectSourceFormat(input.path) : null;
  const format = settings.from ?? detected?.format ?? "csv";
  const reading = {
    header: settings.header,
    comment: settings.comment ?? null,
    itemColumn: settings.itemColumn ?? null,
    kindColumn: settings.kindColumn ?? null,
  };
  return execute(job, {
    inputFormat: format,
    options: {
      from: format,
      "item-column": reading.itemColumn,
      "kind-column": reading.kindColumn,
      header: reading.header,
      comment: reading.comment,
    },
    open: (resume) =>
      sources[format](input, { format, gzip: detected?.gzip ?? false, ...reading, resume }),
    begin: (lookup, tally) =>
      beginRow({
        recognise: recogniseItem,
        parseKind: parseKindName,
        lookup,
        onWarning: (message) => tally.warning(message),
      }),
  });
}
