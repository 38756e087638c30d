import type { Manifest } from "../../core/manifest/manifest.js";
import type { InputRecord, ReadingFacts, SharedFacts } from "../../core/manifest/reading-facts.js";
import { linesSkipped } from "../../io/formats/csv/skipped-lines.js";
import { positionalName } from "../../io/formats/columns/name-columns.js";
import type { OpenedSource, RunInput } from "../../io/input/types.js";

/** One record per file of several inputs; undefined for a single input. */
export function inputRecords(
  source: Pick<OpenedSource, "files">,
  rows: number,
): readonly InputRecord[] | undefined {
  const files = source.files?.();
  return files?.map(({ name, reading, kind, start, input, bytesTotal }, index) => {
    // The reader is ahead of the rows that are written.
    const end = Math.min(files[index + 1]?.start?.row ?? rows, rows);
    const read = Math.max(0, end - (start?.row ?? rows));
    const counts = { bytes: bytesTotal ?? input?.bytes ?? 0, rows: read };
    return Object.assign({ path: name }, readingFacts({ reading, kind }), counts);
  });
}

/** What all inputs have in common; null where they differ, or where only some have the fact. */
export function sharedFacts(inputs: readonly InputRecord[]): SharedFacts {
  const own = new Set(["path", "bytes", "rows"]);
  const names = new Set(inputs.flatMap((input) => Object.keys(input) as (keyof ReadingFacts)[]));
  const shared = [...names].flatMap((name) => {
    if (own.has(name)) return [];
    const value = inputs[0]?.[name];
    return [[name, inputs.every((input) => input[name] === value) ? value : null] as const];
  });
  return Object.fromEntries(shared) as SharedFacts;
}

/** Files of folders that were not read; absent for none. */
export function skippedInputs(
  input: RunInput | { readonly stream: null },
): Pick<Manifest, "skipped_inputs"> {
  const skipped = "inputs" in input ? (input.skipped ?? []) : [];
  if (skipped.length === 0) return {};
  return { skipped_inputs: skipped.map(({ path, reason }) => ({ path, reason })) };
}

export function readingFacts({
  reading,
  kind: table,
}: Pick<OpenedSource, "reading" | "kind">): ReadingFacts {
  const { format, delimiter, header, items, kind } = reading;
  const skippedLines = linesSkipped(reading);
  const [{ by, sample }] = items;
  return {
    format: table ?? format,
    delimiter: table === undefined ? delimiter : null,
    header,
    ...(skippedLines === 0 ? {} : { skipped_lines: skippedLines }),
    item_column: items
      .map(({ name, index }) => (name === "" ? positionalName(index) : name))
      .join(","),
    item_column_by: by,
    item_column_share: sample === null ? null : Math.round(sample.share * 1000) / 1000,
    kind_column: kind?.name ?? null,
    kind_column_by: kind?.by ?? null,
  };
}
