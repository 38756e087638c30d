import { didYouMean } from "../core/text/did-you-mean.js";

/**
 * The name probably meant by `word`, or null: equal except for case and punctuation, the end of a
 * longer name (`CustomerEmail` for `s.resolver_data.CustomerEmail`), or a few letters off.
 */
export function closestName(word: string, names: readonly string[]): string | null {
  const folded = fold(word);
  const longer = folded.length < 3 ? [] : names.filter((name) => fold(name).endsWith(folded));
  const most = Math.min(3, Math.ceil(word.length / 4));
  return longer.toSorted((a, b) => a.length - b.length)[0] ?? didYouMean(word, names, most);
}

function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}
