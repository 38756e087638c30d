import { shownColumn } from "../../formats/column-errors.js";
import type { InputReading } from "../../inputs/types.js";

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
