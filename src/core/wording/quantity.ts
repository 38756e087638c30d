/** A count with thousands separators: `12,345`. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

/** A count and what it counts: `1 row`, `12,345 rows`, `2 addresses`, `3 entries`. */
export function counted(count: number, noun: string): string {
  const plural = noun.endsWith("s") ? `${noun}es` : `${noun}s`.replace(/(?<![aeiou])ys$/, "ies");
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}

/** Names with their counts, the most frequent first, on one line; "" without any. */
export function formatCounts(
  counts: Readonly<Record<string, number>>,
  most: number,
  between = " ",
): string {
  const entries = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  const shown = entries.slice(0, most).map(([name, n]) => `${name}${between}${formatCount(n)}`);
  const rest = entries.length - most;
  return shown.join(", ") + (rest > 0 ? `, and ${counted(rest, "other")}` : "");
}

/** The first names: `a, b and 3 more`. */
export function firstNames(names: readonly string[], most: number): string {
  const more = names.length > most ? ` and ${names.length - most} more` : "";
  return names.slice(0, most).join(", ") + more;
}

export function formatSpeed(perSecond: number): string {
  return perSecond < 9.95 ? perSecond.toFixed(1) : formatCount(perSecond);
}

/** A size in a suitable decimal unit: `920 kB`. */
export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let size = bytes;
  let unit = 0;
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000;
    unit++;
  }
  const digits = unit === 0 || size >= 99.95 ? 0 : 1;
  return `${size.toFixed(digits)} ${units[unit]}`;
}

/** A duration: `0.4 s`, `43 s`, `1 min 43 s`, `2 h 5 min`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const [large, small] =
    whole < 3600
      ? [`${Math.floor(whole / 60)} min`, `${whole % 60} s`]
      : [`${Math.floor(whole / 3600)} h`, `${Math.floor((whole % 3600) / 60)} min`];
  return small.startsWith("0 ") ? large : `${large} ${small}`;
}

/** A percentage with one decimal; rounds neither to 0% nor to 100% unless exact. */
export function formatPercent(part: number, whole: number): string {
  if (whole === 0 || part === 0) return "0%";
  if (part === whole) return "100%";
  const percent = (100 * part) / whole;
  if (percent < 0.1) return "<0.1%";
  return percent > 99.9 ? ">99.9%" : `${percent.toFixed(1)}%`;
}

export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
