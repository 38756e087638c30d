import type { JsonObject } from "../../core/finding.js";

/** The way to one value in JSON objects: a member's name, or names and array indexes with dots. */
export class MemberPath {
  readonly name: string;
  readonly #steps: readonly string[];

  constructor(name: string) {
    this.name = name;
    this.#steps = name.split(".");
  }

  /** The value there; undefined where the object has none. */
  valueIn(object: JsonObject): unknown {
    // A member whose name has dots in it wins over what the dots lead to.
    if (Object.hasOwn(object, this.name)) return object[this.name];
    if (this.#steps.length === 1) return undefined;
    let value: unknown = object;
    for (const step of this.#steps) {
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) {
        return undefined;
      }
      value = (value as JsonObject)[step];
    }
    return value;
  }
}

/**
 * A JSON value as the text of an item: a string, or the only string of an array; "" where there is
 * nothing, and null for what is not text.
 */
export function itemTextOf(value: unknown): string | null {
  const only: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (typeof only === "string") return only;
  return value === undefined || value === null ? "" : null;
}
