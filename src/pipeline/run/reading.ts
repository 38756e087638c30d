import { parseKindName } from "../../core/item/kind-names.js";
import { recogniseItem } from "../../core/item/recognise.js";
import type { Lookup } from "../../lookup/types.js";
import { type Clock, systemClock } from "../../core/clock.js";
import { detectSourceFormat } from "../../formats/detect-format.js";
import { sniffFormat, type SniffedInput } from "../../formats/sniff-format.js";
import { sources } from "../../formats/registry.js";
import type {
  OpenedSource,
  SourceFormat,
  SourceInput,
  SourcePosition,
} from "../../inputs/types.js";
import { type BeginRow, beginRow } from "./begin-row.js";
import type { EnrichSettings } from "../options.js";

/** Settings that say how the rows of an input are read. */
export type ReadingSettings = Pick<
  EnrichSettings,
  "from" | "header" | "comment" | "itemColumn" | "kindColumn"
>;

/** How the rows of an input are read and what their items are: one way for runs and plans. */
export interface Reading {
  /** The format; waits for the first bytes where neither a flag nor the input's name says it. */
  format(): Promise<SourceFormat>;
  /** What the reading depends on, by flag name. */
  readonly options: Readonly<Record<string, unknown>>;
  open(resume: SourcePosition | null): Promise<OpenedSource>;
  begin(lookup: Lookup): BeginRow;
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
  let sniffing: Promise<SniffedInput> | null = null;
  const sniff = (): Promise<SniffedInput> =>
    (sniffing ??=
      named === null
        ? sniffFormat(input, { gzip, comment, clock })
        : Promise.resolve({ input, format: named, comment }));
  const flags = {
    header: settings.header ?? null,
    itemColumn: settings.itemColumn ?? null,
    kindColumn: settings.kindColumn ?? null,
  };
  return {
    format: async () => (await sniff()).format,
    options: {
      from: named,
      "item-column": flags.itemColumn,
      "kind-column": flags.kindColumn,
      header: flags.header,
      comment,
    },
    open: async (resume) => {
      const sniffed = await sniff();
      const format = resume?.reading.format ?? sniffed.format;
      const guessed = settings.from === undefined;
      const { comment } = sniffed;
      const options = { format, guessed, gzip, ...flags, comment, resume, clock };
      return sources[format](sniffed.input, options);
    },
    begin: (lookup) => beginRow({ recognise: recogniseItem, parseKind: parseKindName, lookup }),
  };
}
