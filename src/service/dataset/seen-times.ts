/** First and last sighting, RFC 3339; null if unknown. */
interface SeenSpan {
  readonly firstSeen: string | null;
  readonly lastSeen: string | null;
}

/** A span, and its place in the record, such as `result.observedActivity`. */
interface PlacedSpan extends SeenSpan {
  readonly path: string;
}

/**
 * Explains the first time that contradicts another; null if there is none. `firstSeen` must not be
 * after `lastSeen`, and each span must lie within the one around it: observations within their
 * interactions, and interactions within the result.
 *
 * @param path place of the value in its record
 */
export function timeFault(
  value: unknown,
  path: string,
  outer: PlacedSpan | null = null,
): string | null {
  if (typeof value !== "object" || value === null) return null;
  let inner = outer;
  if ("firstSeen" in value) {
    inner = { ...(value as SeenSpan), path };
    const fault = spanFault(inner, outer);
    if (fault !== null) return `${path}: ${fault}`;
  }
  for (const [member, content] of Object.entries(value)) {
    const fault = timeFault(content, `${path}.${member}`, inner);
    if (fault !== null) return fault;
  }
  return null;
}

function spanFault({ firstSeen, lastSeen }: SeenSpan, outer: PlacedSpan | null): string | null {
  if (isAfter(firstSeen, lastSeen)) return `firstSeen ${firstSeen} is after lastSeen ${lastSeen}`;
  if (outer === null) return null;
  if (isAfter(outer.firstSeen, firstSeen)) {
    return `firstSeen ${firstSeen} is before firstSeen of ${outer.path}, ${outer.firstSeen}`;
  }
  if (isAfter(lastSeen, outer.lastSeen)) {
    return `lastSeen ${lastSeen} is after lastSeen of ${outer.path}, ${outer.lastSeen}`;
  }
  return null;
}

/** Compares two RFC 3339 times. False if either is unknown. */
export function isAfter(one: string | null | undefined, other: string | null | undefined): boolean {
  return Date.parse(one ?? "") > Date.parse(other ?? "");
}
