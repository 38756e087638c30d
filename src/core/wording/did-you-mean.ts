/**
 * The candidate that `word` probably means, or null: the shortest that begins with it, or else the
 * closest, the first of equally close ones.
 *
 * Close means an edit distance (insert, delete, replace, swap neighbours; case-insensitive) of at most a
 * third of the word's length, rounded, and at least 1.
 */
export function didYouMean(word: string, candidates: readonly string[]): string | null {
  const wanted = comparable(word);
  const longer = wanted.length < leastBeginning ? [] : candidates.filter(startsWith(wanted));
  if (longer.length > 0) return longer.toSorted((a, b) => a.length - b.length)[0]!;
  const most = Math.max(1, Math.round(wanted.length / 3));
  // A candidate that shares no letter with the word is not a typo of it ("a" for "b").
  const near = byDistance(word, candidates).find(
    ({ name, distance }) =>
      name !== "" && distance <= most && distance < Math.max(wanted.length, name.length),
  );
  return near?.candidate ?? null;
}

export function nearestFirst(word: string, candidates: readonly string[]): readonly string[] {
  return byDistance(word, candidates).map(({ candidate }) => candidate);
}

function byDistance(word: string, candidates: readonly string[]) {
  const wanted = comparable(word);
  const measured = candidates.map((candidate) => {
    const name = comparable(candidate);
    return { candidate, name, distance: editDistance(wanted, name) };
  });
  return measured.toSorted((a, b) => a.distance - b.distance);
}

function comparable(name: string): string {
  return name.trim().toLowerCase().slice(0, longestWord);
}

const leastBeginning = 3;

function startsWith(beginning: string): (name: string) => boolean {
  return (name) => name.trim().toLowerCase().startsWith(beginning);
}

/** Longer words are truncated: nobody types them, and the algorithm is quadratic. */
const longestWord = 80;

/** Insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let least = Math.min(
        last[column]! + 1,
        current[column - 1]! + 1,
        last[column - 1]! + (same ? 0 : 1),
      );
      const swapped =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) least = Math.min(least, beforeLast[column - 2]! + 1);
      current.push(least);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length]!;
}
