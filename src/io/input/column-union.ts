import type { InputType } from "../formats/typed-column.js";
import type { FilePosition } from "./types.js";

export interface ColumnUnion {
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

/** The types of united columns; undefined if all inputs are text. */
export function uniteTypes(
  { columns, places }: ColumnUnion,
  files: readonly Pick<FilePosition, "name" | "types">[],
): readonly InputType[] | undefined {
  if (files.every(({ types }) => types === undefined)) return undefined;
  return columns.map((_, index) => {
    const found = files.flatMap(({ name, types }, file) => {
      const place = places[file]?.[index] ?? index;
      return place < 0 ? [] : [{ name, type: types === undefined ? text : types[place]! }];
    });
    return commonType(found);
  });
}

const text: InputType = { type: "text", declared: "text" };

/** The type that a column has in all inputs; text if a text input has it. */
function commonType(
  found: readonly { readonly name: string; readonly type: InputType }[],
): InputType {
  const [first = { name: "", type: text }] = found;
  if (found.some(({ type }) => type === text)) return text;
  const other = found.find(({ type }) => type.type !== first.type.type);
  if (other === undefined) return first.type;
  const declared = [first, other].map(({ name, type }) => `${type.declared} in ${name}`);
  return { type: null, declared: declared.join(" and ") };
}

function keysOf(columns: readonly string[]): readonly string[] {
  const seen = new Map<string, number>();
  return columns.map((column) => {
    const name = column.trim();
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return `${count} ${name}`;
  });
}
