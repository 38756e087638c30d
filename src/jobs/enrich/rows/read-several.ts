import { stat } from "node:fs/promises";
import { ReputeError, UsageError } from "../../../core/errors.js";
import { matchColumn } from "../../../io/formats/columns/name-columns.js";
import type { ItemColumn } from "../../../io/formats/types.js";
import { mustHaveMarks } from "../../../io/input/tlp-rows.js";
import { openSeveral } from "../../../io/input/several/open-several.js";
import type { SourceFile } from "../../../io/input/several/several-source.js";
import type { NamedInput, OpenedSource, SourcePosition } from "../../../io/input/types.js";
import type { ReadingSettings, RowSource } from "../row-source.js";

/** One of several inputs. */
export interface SeveralReading extends NamedInput {
  readonly read: (settings: ReadingSettings) => RowSource;
  /** The same with all flags. */
  readonly reading: RowSource;
}

type ColumnFlags = Pick<ReadingSettings, "itemColumn" | "kindColumn" | "anyItemColumn">;

/**
 * Opens several inputs as one. `--item-column` and `--kind-column` apply to the inputs that have
 * such a column; the others are read as without the flag.
 * @throws UsageError `column_not_found` if no input has a column that a flag names; as `openSeveral`
 */
export async function openInputs(
  inputs: readonly SeveralReading[],
  settings: ReadingSettings,
  resume: SourcePosition | null,
): Promise<OpenedSource> {
  const files = await Promise.all(
    inputs.map(async ({ name, input, read, reading }): Promise<SourceFile> => {
      const facts = "path" in input ? await stat(input.path).catch(() => null) : null;
      const isPipe = !("path" in input) || (facts !== null && !facts.isFile());
      const openWith = (flags: ColumnFlags, from: SourcePosition | null) =>
        read({ ...settings, ...flags }).open(from);
      return {
        name,
        input: "path" in input && !isPipe ? input : null,
        async open(from) {
          if (isPipe) return reading.open(from);
          if (from !== null) return openWith(usedFlags(settings, from), from);
          return openWithFlags(settings, (flags) => openWith(flags, null));
        },
      };
    }),
  );
  const namesColumns = [settings.itemColumn ?? []].flat().length > 1;
  const source = await openSeveral(files, resume, namesColumns);
  try {
    mustBeUsed(settings, source);
    mustHaveMarks("the input", source, settings);
  } catch (error) {
    await source.close();
    throw error;
  }
  return source;
}

/** Opens an input with as many of the column flags as it has columns for. */
export async function openWithFlags(
  { itemColumn, kindColumn }: ReadingSettings,
  open: (flags: ColumnFlags) => Promise<OpenedSource>,
): Promise<OpenedSource> {
  const none = { itemColumn: undefined, kindColumn: undefined };
  const attempts: readonly ColumnFlags[] = [
    { itemColumn, kindColumn },
    { ...none, ...(itemColumn === undefined || kindColumn === undefined ? {} : { kindColumn }) },
    { ...none, ...(itemColumn === undefined || kindColumn === undefined ? {} : { itemColumn }) },
    none,
  ];
  const hasFlags = itemColumn !== undefined || kindColumn !== undefined;
  for (const flags of hasFlags ? attempts.slice(0, -1) : []) {
    try {
      return await open({ ...flags, anyItemColumn: true });
    } catch (error) {
      const isMissing = error instanceof ReputeError && error.code === "column_not_found";
      if (!isMissing) throw error;
    }
  }
  return open(none);
}

/** The flags that were used to open an input, by what was found. */
function usedFlags(
  { itemColumn, kindColumn }: ReadingSettings,
  { reading }: SourcePosition,
): ColumnFlags {
  return {
    itemColumn: reading.items[0].by === "flag" ? itemColumn : undefined,
    kindColumn: reading.kind?.by === "flag" ? kindColumn : undefined,
  };
}

function mustBeUsed({ itemColumn, kindColumn }: ReadingSettings, source: OpenedSource): void {
  const readings = (source.files?.() ?? []).map(({ reading }) => reading);
  const check = (flag: string, wanted: string, isUsed: boolean): void => {
    if (isUsed) return;
    throw new UsageError(
      "column_not_found",
      `none of the ${readings.length} inputs has a column ${JSON.stringify(wanted)} (${flag})`,
      { hint: `${flag} applies to the inputs that have the column; check its name` },
    );
  };
  for (const wanted of [itemColumn ?? []].flat()) {
    const isItem = ({ name, by }: ItemColumn): boolean =>
      by === "flag" && matchColumn([name], wanted) !== null;
    check(
      "--item-column",
      wanted,
      readings.some(({ items }) => items.some(isItem)),
    );
  }
  if (kindColumn === undefined) return;
  check(
    "--kind-column",
    kindColumn,
    readings.some(({ kind }) => kind?.by === "flag"),
  );
}
