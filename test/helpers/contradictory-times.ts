type Span = readonly [first: number, last: number];

/**
 * Places where times contradict each other: `firstSeen` after `lastSeen`, or a span that does not
 * lie within the one around it.
 */
export function contradictoryTimes(
  value: unknown,
  path = "result",
  [earliest, latest]: Span = [-Infinity, Infinity],
): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  const { firstSeen, lastSeen } = value as { firstSeen?: string; lastSeen?: string };
  const first = firstSeen ? Date.parse(firstSeen) : earliest;
  const last = lastSeen ? Date.parse(lastSeen) : latest;
  const isWrong = first > last || first < earliest || last > latest;
  const inner = Object.entries(value).flatMap(([member, content]) =>
    contradictoryTimes(content, `${path}.${member}`, [first, last]),
  );
  return isWrong ? [path, ...inner] : inner;
}
