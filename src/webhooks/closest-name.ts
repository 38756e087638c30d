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

/** Insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = a[row - 1] === b[column - 1] ? 0 : 1;
      let cost = Math.min(
        at(above, column) + 1,
        at(current, column - 1) + 1,
        at(above, column - 1) + replaced,
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, at(before, column - 2) + 1);
      }
      current.push(cost);
    }
    before = above;
    above = current;
  }
  return at(above, b.length);
}

function at(costs: readonly number[], index: number): number {
  return costs[index] ?? Number.POSITIVE_INFINITY;
}
