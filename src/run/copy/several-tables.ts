import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, systemClock } from "../../core/clock.js";
import { detectSourceFormat } from "../../formats/registry.js";
import type { NamedInput, SeveralInputs } from "../../inputs/types.js";
import { outputFault } from "../../outputs/output-fault.js";
import type { TableInput } from "../../outputs/tables/types.js";
import { readingOf } from "../rows/reading.js";
import type { SeveralReading } from "../rows/read-several.js";
import { copyOf, copyOnce, readTable, refuseTextOptions } from "./copied-table.js";
import type {
  ReadingSettings,
  RowHandling,
  CopiedInput,
  CopyPlace,
  CopyForm,
} from "../rows/row-handling.js";

/**
 * Several inputs, some of which are tables. Each table is copied to a folder of its own.
 *
 * @param tables per input, the table that it names; null for text
 * @throws UsageError `text_option` if there is no text
 */
export function severalTables(
  several: SeveralInputs,
  tables: readonly (TableInput | null)[],
  settings: ReadingSettings,
  clock: Clock = systemClock,
): RowHandling {
  const { inputs } = several;
  const texts = inputs.filter((_, index) => tables[index] === null);
  if (texts.length === 0) refuseTextOptions(tables[0]!, settings);
  const placeOf = (index: number, place: CopyPlace): CopyPlace => ({
    ...place,
    ...formBeside(texts, settings, place),
    folder: join(place.folder, `input-${index + 1}`),
  });
  const readings = inputs.map((named) =>
    reader(named, settings, (own) => readingOf(named.input, own, clock)),
  );
  const inFolder: CopiedInput["inFolder"] = (place) => {
    const placed = readings.map((named, index): SeveralReading => {
      const table = tables[index] ?? null;
      if (table === null) return named;
      const own = { ...placeOf(index, place), clock };
      const input = copyOf(table, own);
      return reader({ name: table.name, input }, settings, (each) => readTable(table, each, own));
    });
    return {
      input: { ...several, inputs: placed.map(({ name, input }) => ({ name, input })) },
      async open(resume) {
        const { openInputs } = await import("../rows/read-several.js");
        return openInputs(placed, settings, resume);
      },
    };
  };
  const whole = readingOf(several, settings, clock);
  const text = readings.find((_, index) => tables[index] === null);
  return {
    ...whole,
    inputFormat: async () => text?.reading.inputFormat() ?? "csv",
    open: () => Promise.reject(new TypeError("copy the tables first")),
    copied: {
      sources: inputs.map(
        ({ input }, index) =>
          tables[index] ?? { kind: "text", file: "path" in input ? input.path : null },
      ),
      inFolder,
      async make(place, isResumed) {
        for (const [index, table] of tables.entries()) {
          if (table === null) continue;
          const own = placeOf(index, place);
          await mkdir(own.folder, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
            throw outputFault(own.folder, error);
          });
          await copyOnce(table, own, isResumed);
        }
      },
    },
  };
}

/** Objects and rows do not mix: the copies are what the text is. */
function formBeside(
  texts: SeveralInputs["inputs"],
  { from }: ReadingSettings,
  { format, keepsNulls }: CopyForm,
): CopyForm {
  const [first] = texts;
  if (first === undefined) return { format, keepsNulls };
  const named = "path" in first.input ? detectSourceFormat(first.input.path).format : null;
  const isObjects = ["json", "ndjson"].includes(from ?? named ?? "");
  return { format: isObjects ? "ndjson" : "tsv", keepsNulls };
}

function reader(
  named: NamedInput,
  settings: ReadingSettings,
  read: SeveralReading["read"],
): SeveralReading {
  return { ...named, read, reading: read(settings) };
}
