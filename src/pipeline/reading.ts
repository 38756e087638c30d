import { parseKindName } from "../core/item/kind-names.js";
import { recogniseItem } from "../core/item/recognise.js";
import type { Lookup } from "../lookup/types.js";
import { detectSourceFormat } from "../sources/detect-format.js";
import { sources } from "../sources/registry.js";
import type { OpenedSource, SourceFormat, SourceInput, SourcePosition } from "../sources/types.js";
import { type BeginRow, beginRow } from "./begin-row.js";
import type { EnrichSettings } from "./options.js";

/** Settings that say how the rows of an input are read. */
export type ReadingSettings = Pick<
  EnrichSettings,
  "from" | "header" | "comment" | "itemColumn" | "kindColumn"
>;

/** How the rows of an input are read and what their items are: one way for runs and plans. */
export interface Reading {
  readonly format: SourceFormat;
  /** What the reading depends on, by flag name. */
  readonly options: Readonly<Record<string, unknown>>;
  open(resume: SourcePosition | null): Promise<OpenedSource>;
  begin(lookup: Lookup, onWarning: (message: string) => void): BeginRow;
}

export function readingOf(input: SourceInput, settings: ReadingSettings): Reading {
  const detected = "path" in input ? detectSourceFormat(input.path) : null;
  const format = settings.from ?? detected?.format ?? "csv";
  const reading = {
    header: settings.header,
    comment: settings.comment ?? null,
    itemColumn: settings.itemColumn ?? null,
    kindColumn: settings.kindColumn ?? null,
  };
  return {
    format,
    options: {
      from: format,
      "item-column": reading.itemColumn,
      "kind-column": reading.kindColumn,
      header: reading.header,
      comment: reading.comment,
    },
    open: (resume) =>
      sources[format](input, { format, gzip: detected?.gzip ?? false, ...reading, resume }),
    begin: (lookup, onWarning) =>
      beginRow({ recognise: recogniseItem, parseKind: parseKindName, lookup, onWarning }),
  };
}
