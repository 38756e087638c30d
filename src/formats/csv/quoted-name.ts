/** A column's name for a message: in quotes, control characters escaped, cut where overlong. */
export function quotedName(name: string): string {
  return JSON.stringify(name.length > longestName ? `${name.slice(0, longestName)}…` : name);
}

const longestName = 100;
