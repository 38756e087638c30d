import { parseKindName } from "../core/item/kind-names.js";

/**
 * A word of a kind column that nobody named: "" where it names no kind of item. Such a column has
 * words for hashes and files as well, which nobody needs to be warned of.
 */
export function knownKind(text: string): string {
  return text === "" || parseKindName(text) === null ? "" : text;
}
