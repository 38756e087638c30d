/** The entries of a list that is joined with `|`. One that contains `|` counts as several, in every format. */
export function joinedEntries(joined: string): readonly string[] {
  return joined === "" ? [] : joined.split("|");
}
