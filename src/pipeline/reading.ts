import { parseKindName } from "../core/item/kind-names.js";
import { recogniseItem } from "../core/item/recognise.js";
import type { Lookup } from "../lookup/types.js";
import { type Clock, systemClock } from "../core/clock.js";
import { detectSourceFormat } from "../sources/detect-format.js";
import { type SniffedInput, sniffFormat } from "../sources/sniff-format.js";
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
  /** What the reading depends on, by flag name. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Looks into the input where neither a flag nor its name says the format. */
  format(): Promise<SourceFormat>;
  open(resume: SourcePosition | null): Promise<OpenedSource>;
  begin(lookup: Lookup, onWarning: (message: string) => void): BeginRow;
}

export function readingOf(
  input: SourceInput,
  settings: ReadingSettings,
  clock: Clock = systemClock,
): Reading {
  const detected = "path" in input ? detectSourceFormat(input.path) : null;
  const gzip = detected?.gzip ?? false;
  const comment = settings.comment ?? null;
  const named = settings.from ?? detected?.format ?? null;
  const flags = {
    header: settings.header ?? null,
    itemColumn: settings.itemColumn ?? null,
    kindColumn: settings.kindColumn ?? null,
  };
  let sniffing: Promise<SniffedInput> | null = null;
  const sniffed = (): Promise<SniffedInput> => {
    sniffing ??=
      named === null
        ? sniffFormat(input, { gzip, comment, clock })
        : Promise.resolve({ input, format: named, comment });
    return sniffing;
  };
  return {
    options: {
      from: named,
      "item-column": flags.itemColumn,
      "kind-column": flags.kindColumn,
      header: flags.header,
      comment,
    },
    format: async () => (await sniffed()).format,
    async open(resume) {
      const found = await sniffed();
      const format = resume?.reading.format ?? found.format;
      const guessed = settings.from === undefined;
      const options = { format, guessed, gzip, ...flags, comment: found.comment, resume, clock };
      return sources[format](found.input, options);
    },
    begin: (lookup, onWarning) =>
      beginRow({ recognise: recogniseItem, parseKind: parseKindName, lookup, onWarning }),
  };
}
