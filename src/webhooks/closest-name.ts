import { editDistance } from "../core/did-you-mean.js";

/**
 * The name that was likely meant by `word`, or null: the same but for case and punctuation, the
 * end of a longer name (`CustomerEmail` for `s.resolver_data.CustomerEmail`), or a few letters off.
 */
export function closestName(word: string, names: readonly string[]): string | null {
  if (word.length === 0 || word.length > longestCompared) return null;
  const folded = fold(word);
  const same = names.find((name) => fold(name) === folded);
  if (same !== undefined) return same;
  if (folded.length >= 3) {
    const longer = names.filter((name) => fold(name).endsWith(folded));
    if (longer.length > 0) return longer.reduce((a, b) => (b.length < a.length ? b : a));
  }
  let best: string | null = null;
  let most = Math.min(3, Math.ceil(word.length / 4));
  for (const name of names) {
    if (Math.abs(name.length - word.length) > most) continue;
    const distance = editDistance(word, name);
    if (distance > most) continue;
    best = name;
    most = distance - 1;
  }
  return best;
}

const longestCompared = 200;

function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}
