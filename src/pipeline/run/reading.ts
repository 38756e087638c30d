import { type Clock, systemClock } from "../../core/clock.js";
import { type Finding, type FindingError, unasked } from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import { parseKindName } from "../../core/item/kind-names.js";
import { unsupportedReasons } from "../../core/item/reasons.js";
import { recogniseItem } from "../../core/item/recognise.js";
import type { Row } from "../../core/row.js";
import { shownColumn } from "../../formats/columns/find-column.js";
import { detectSourceFormat } from "../../formats/registry.js";
import { openSource } from "../../inputs/open-source.js";
import { sniffFormat, type SniffedInput } from "../../inputs/sniff-format.js";
import type { Encoder, InputReading, SourceFormat } from "../../formats/types.js";
import type { OpenedSource, SourceInput, SourcePosition } from "../../inputs/types.js";
import type { Lookup } from "../../lookup/types.js";
import type { EnrichSettings } from "../options.js";

/** Settings that say how the rows of an input are read. */
export type ReadingSettings = Pick<
  EnrichSettings,
  "from" | "header" | "comment" | "itemColumn" | "kindColumn"
>;

/** What a row begins with: its item, and its finding or the promise of one. */
interface StartedRow {
  readonly item: Item | null;
  readonly finding: Finding | Promise<Finding>;
}

export type StartRow = (row: Row, signal: AbortSignal) => StartedRow;

/** What a run does with the rows of an input: how they are read, looked up and written. */
export interface RowJob {
  /** The input's format; waits for the first bytes where neither a flag nor the input's name says it. */
  inputFormat(): Promise<SourceFormat>;
  /** What the reading depends on, by flag name; a resumed run must have the same. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Opens the input, at its beginning or where an interrupted run got to. */
  open(resume: SourcePosition | null): Promise<OpenedSource>;
  /** Starts each row's lookup. */
  start(lookup: Lookup): StartRow;
  /** False: partial answers are asked for again where a cache has them. Default true. */
  readonly partialsFromCache?: boolean;
  /** Changes how rows are written. */
  readonly encoder?: (encoder: Encoder) => Encoder;
}

/** How runs and plans read an input's rows and find their items. */
export function readingOf(
  input: SourceInput,
  settings: ReadingSettings,
  clock: Clock = systemClock,
): RowJob {
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
    inputFormat: async () => (await sniff()).format,
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
      return openSource(sniffed.input, options);
    },
    start: startRow,
  };
}

/** Recognises a row's item and starts its lookup; a row without an item is settled at once. */
function startRow(lookup: Lookup): StartRow {
  return (row, signal) => {
    if (row.fault !== null) return { item: null, finding: unasked("failed", row.fault) };
    if (row.itemNotText === true) return { item: null, finding: unasked("unsupported", notText) };
    const kind = row.kindText === "" ? null : parseKindName(row.kindText);
    const { item, reason } = recogniseItem(row.itemText, kind);
    if (item === null) return { item, finding: unasked("unsupported", reason) };
    return { item, finding: lookup(item, { signal, row: row.number }) };
  };
}

const notText: FindingError = {
  code: "not_text",
  message: unsupportedReasons.not_text,
};

/** Tells which columns were chosen where no flag named them. */
export function announceReading(
  { onNotice }: { readonly onNotice?: ((message: string) => void) | undefined },
  { item, kind }: InputReading,
): void {
  const { sample } = item;
  const kinds = kind?.by === "neighbour" ? shownColumn(kind) : null;
  if (sample !== null && sample.cells > 0) {
    const { indicators, cells } = sample;
    const found = `${indicators} of ${cells} sampled cells are indicators`;
    const also = kinds === null ? "" : `; kinds are in ${kinds}`;
    onNotice?.(`using column ${shownColumn(item)} (${found})${also}`);
  } else if (kinds !== null) {
    onNotice?.(`using column ${kinds} for the kinds of items`);
  }
}
