import type { Item } from "../../core/item/item.js";
import { hasNameOfFile } from "../../core/item/detect.js";
import { recogniseItem } from "../../core/item/recognise.js";
import type { Manifest } from "../../core/manifest.js";
import type { Row } from "../../core/row.js";
import { itemFinder } from "../extract/find-items.js";
import { isCitation, type IsHeld, isPublic } from "../../io/formats/columns/rate-columns.js";
import { columnName, distinctNames } from "../../io/formats/columns/name-columns.js";
import { leavesOf } from "../../io/formats/ndjson/ndjson.js";
import { limits } from "../../io/formats/reading/lines.js";
import type { OpenedSource } from "../../io/input/types.js";
import { addCount, type Counts, mostFrequentFirst } from "./counters.js";

/** What a run has seen of items that it does not look up. */
type ElsewhereCounts = Pick<Manifest, "elsewhere" | "inside_cells">;

/** Of the rows behind the sample of an input, one in so many is examined. */
const stride = 100;

/** What every item has: a dot, colon or `@` in some spelling, or the length of a hash or wallet. */
const mayHoldItem = /[.:@]|dot|[^\0-\x7f]|.{25}/i;

/**
 * Estimates the items that a run does not look up: those in other columns, and those inside cells and
 * lines. It examines as many rows as the choice of a column does, and every hundredth one after.
 */
export class Elsewhere {
  readonly #columns: Counts;
  #inside: number;
  /** Examines a row of the input that is watched. */
  #examine: (row: Row, item: Item | null, weight: number) => void = () => undefined;
  readonly #find = itemFinder();

  constructor({ elsewhere = {}, inside_cells = 0 }: ElsewhereCounts = {}) {
    this.#columns = new Map(Object.entries(elsewhere));
    this.#inside = inside_cells;
  }

  /** Examines the rows of this input from now on. */
  watch(source: WatchedSource, isHeld: IsHeld): void {
    const { columns, reading, kind } = source;
    // Rows of an output that is read again: they were examined.
    if (reading.items[0].index < 0) return;
    const readings = source.files?.().map((file) => file.reading) ?? [reading];
    const chosen = new Set(
      readings.flatMap(({ items }) => items.map(columnName).flatMap(spellings)),
    );
    const names = distinctNames(columns).map((name, index) => columnName({ name, index }));
    const ofFiles = new Set(readings.flatMap((each) => each.ofFiles ?? []));
    // `repute extract` reads text.
    const isText = kind === undefined;
    this.#examine = (row, item, weight) => {
      // A URL goes to the end of its cell.
      if (isText && item?.kind !== "url") this.#noteInside(row.itemText, weight, item);
      for (const [name, texts] of cellsOf(row, names)) {
        if (chosen.has(name)) continue;
        let isFound = false;
        for (const text of texts) {
          if (!mayHoldItem.test(text)) continue;
          const other = recogniseItem(text).item;
          if (other !== null) {
            isFound ||= isPublic(other) && !isHeld(other) && !isAside(other, name, ofFiles);
          } else if (isText) this.#noteInside(text, weight);
        }
        if (isFound) addCount(this.#columns, name, weight);
      }
    };
  }

  note(row: Row, item: Item | null): void {
    const isSampled = row.number <= limits.sampleRecords;
    if (isSampled || row.number % stride === 0) this.#examine(row, item, isSampled ? 1 : stride);
  }

  snapshot(): ElsewhereCounts {
    return {
      ...(this.#columns.size > 0 && { elsewhere: mostFrequentFirst(this.#columns) }),
      ...(this.#inside > 0 && { inside_cells: this.#inside }),
    };
  }

  /** Counts the items in a cell, unless the one that is looked up is all that it has. */
  #noteInside(text: string, weight: number, own: Item | null = null): void {
    if (own !== null && !/\s/.test(text.trim())) return;
    let [found, others] = [0, 0];
    this.#find(text, ({ item }) => {
      found += weight;
      if (item.value !== own?.value) others += weight;
    });
    if (others > 0) this.#inside += found;
  }
}

type WatchedSource = Pick<OpenedSource, "columns" | "reading" | "files" | "kind">;

/** Paths that a path takes values of: `ips[]` has those of `ips`, too. */
function spellings(path: string): readonly string[] {
  const [head = "", ...rest] = path.split("[]");
  return rest.reduce(
    (found, part) => found.flatMap((start) => [`${start}${part}`, `${start}[]${part}`]),
    [head],
  );
}

/** Whether an item is the page that a citation names, or may be a file in a column of files. */
function isAside({ kind, value }: Item, name: string, ofFiles: ReadonlySet<string>): boolean {
  if (kind === "url") return isCitation(name);
  return kind === "domain" && hasNameOfFile(value) && ofFiles.has(name);
}

/** The texts of a row by column, or by path. */
function cellsOf({ cells, json }: Row, names: readonly string[]) {
  if (json !== null) return leavesOf(json);
  return cells.map((cell, index) => [names[index] ?? "", cell === "" ? [] : [cell]] as const);
}
