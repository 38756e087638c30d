const dayMs = 86_400_000;
const epoch = Date.UTC(2000, 0, 1);
/** Days from 2000 to 2099; other years are not plausible for activity. */
const most = 36_525;

/** Rows by day, in fixed memory. */
export class Days {
  readonly #counts = new Uint32Array(most);
  #total = 0;

  /** Counts an RFC 3339 time; other text is ignored. */
  add(time: string): void {
    if (!/^20\d\d-\d\d-\d\d/.test(time)) return;
    const day = Math.floor((Date.parse(time.slice(0, 10)) - epoch) / dayMs);
    if (!(day >= 0 && day < most)) return;
    this.#counts[day]! += 1;
    this.#total += 1;
  }

  get total(): number {
    return this.#total;
  }

  /** First moment of the day by which this share of all times has come. */
  quantile(share: number): number {
    let seen = 0;
    for (let day = 0; day < most; day++) {
      seen += this.#counts[day]!;
      if (seen > 0 && seen >= share * this.#total) return epoch + day * dayMs;
    }
    return epoch;
  }

  /** Times from `from` up to, not including, `to`; both in milliseconds since 1970. */
  between(from: number, to: number): number {
    const [first, end] = [from, to].map((time) =>
      Math.min(most, Math.max(0, Math.ceil((time - epoch) / dayMs))),
    ) as [number, number];
    let sum = 0;
    for (let day = first; day < end; day++) sum += this.#counts[day]!;
    return sum;
  }
}
