type Attributes = Readonly<Record<string, string>>;

/** Built-in number formats that show dates and times (ECMA-376, part 1, section 18.8.30). */
const builtIn = (id: number): boolean =>
  (id >= 14 && id <= 22) ||
  (id >= 27 && id <= 36) ||
  (id >= 45 && id <= 47) ||
  (id >= 50 && id <= 58);

/** Which cell styles show their number as a date, by index. */
export function dateStyles(
  styles: readonly Attributes[],
  formats: readonly Attributes[],
): readonly boolean[] {
  const custom = new Set(
    formats.filter(({ formatCode = "" }) => showsDate(formatCode)).map(({ numFmtId }) => numFmtId),
  );
  return styles.map(({ numFmtId = "0" }) => custom.has(numFmtId) || builtIn(Number(numFmtId)));
}

/** Letters of a date outside quotes, colours and conditions; `[h]` counts hours. */
function showsDate(format: string): boolean {
  const bare = format.replaceAll(/"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, "");
  return /[ymdhs]/i.test(bare) && !/general/i.test(bare);
}

const dayMs = 86_400_000;

/** A day number as an ISO date, with the time if it has one; a time without a day as a time. */
export function dateText(days: number, is1904: boolean): string | null {
  // Day 60 of Excel is 29 February 1900, which did not exist.
  const shift = is1904 ? 24_107 : days < 60 ? 25_568 : 25_569;
  const ms = Math.round(((days - shift) * dayMs) / 1000) * 1000;
  const date = new Date(ms);
  if (!Number.isFinite(days) || days < 0 || Number.isNaN(date.getTime())) return null;
  const [day = "", time = ""] = date.toISOString().slice(0, 19).split("T");
  if (days < 1 && !is1904) return time;
  return time === "00:00:00" ? day : `${day}T${time}`;
}
