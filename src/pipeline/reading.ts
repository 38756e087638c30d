import { parseKindName } from "../core/item/kind-names.js";
import { recogniseItem } from "../core/item/recognise.js";
import type { Lookup } from "../lookup/types.js";
import { type Clock, systemClock } from "../core/clock.js";
import { detectSourceFormat } from "../sources/detect-format.js";
import { sniffFormat } from "../sources/sniff-format.js";
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
  begin(lookup: Lookup): BeginRow;
}

/** @throws as `sniffFormat`, where neither a flag nor the input's name says its format */
export async function readingOf(
  input: SourceInput,
  settings: ReadingSettings,
  clock: Clock = systemClock,
): Promise<Reading> {
  const detected = "path" in input ? detectSourceFormat(input.path) : null;
  const gzip = detected?.gzip ?? false;
  const comment = settings.comment ?? null;
  const named = settings.from ?? detected?.format ?? null;
  const sniffed =
    named === null
      ? await sniffFormat(input, { gzip, comment, clock })
      : { input, format: named, comment };
  const flags = {
    header: settings.header ?? null,
    itemColumn: settings.itemColumn ?? null,
    kindColumn: settings.kindColumn ?? null,
  };
  return {
    format: sniffed.format,
    options: {
      from: named,
      "item-column": flags.itemColumn,
      "kind-column": flags.kindColumn,
      header: flags.header,
      comment,
    },
    open: (resume) => {
      const format = resume?.reading.format ?? sniffed.format;
      const guessed = settings.from === undefined;
      const { comment } = sniffed;
      const options = { format, guessed, gzip, ...flags, comment, resume, clock };
      return sources[format](sniffed.input, options);
    },
    begin: (lookup) => beginRow({ recognise: recogniseItem, parseKind: parseKindName, lookup }),
  };
}
