import type { JsonObject } from "../core/finding.js";
import { elementTexts, memberTexts } from "../core/json-members.js";

/** The way to one text in JSON objects: a member's name, or names and array indexes with dots. */
export class MemberPath {
  readonly name: string;
  readonly #steps: readonly string[];

  constructor(name: string) {
    this.name = name;
    this.#steps = name.split(".");
  }

  /** Whether an object has something there, be it null. */
  isIn(object: JsonObject): boolean {
    return this.#valueIn(object) !== undefined;
  }

  /** The string or number there as text, a number in the input's own digits; else "". */
  textIn(object: JsonObject, json: string): string {
    const value = this.#valueIn(object);
    if (typeof value === "string") return value;
    return typeof value === "number" ? this.#rawIn(object, json) : "";
  }

  #valueIn(object: JsonObject): unknown {
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

  #rawIn(object: JsonObject, json: string): string {
    if (Object.hasOwn(object, this.name)) return memberTexts(json).get(this.name) ?? "";
    let text = json;
    for (const step of this.#steps) {
      const isArray = text.startsWith("[");
      text = (isArray ? elementTexts(text)[Number(step)] : memberTexts(text).get(step)) ?? "";
    }
    return text;
  }
}
