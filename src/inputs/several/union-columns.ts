/** The columns of several inputs as one list. */
export interface ColumnUnion {
  /** All columns, in order of first appearance. */
  readonly columns: readonly string[];
  /** Per input, the index of each of these columns in it, or -1; null if both lists are the same. */
  readonly places: readonly (readonly number[] | null)[];
}

/**
 * Unites columns by name, ignoring spaces around it. A name that an input has twice is there twice.
 */
export function uniteColumns(lists: readonly (readonly string[])[]): ColumnUnion {
  const names = new Map<string, string>();
  const keyed = lists.map((columns) => keysOf(columns));
  for (const [list, keys] of keyed.entries()) {
    for (const [index, key] of keys.entries()) {
      if (!names.has(key)) names.set(key, lists[list]![index]!);
    }
  }
  const union = [...names.keys()];
  return {
    columns: [...names.values()],
    places: keyed.map((keys) => {
      const isSame = keys.length === union.length && keys.every((key, n) => key === union[n]);
      if (isSame) return null;
      const indexes = new Map(keys.map((key, index) => [key, index]));
      return union.map((key) => indexes.get(key) ?? -1);
    }),
  };
}

/** Distinguishes columns of the same name by their number. */
function keysOf(columns: readonly string[]): readonly string[] {
  const seen = new Map<string, number>();
  return columns.map((column) => {
    const name = column.trim();
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return `${count} ${name}`;
  });
}
