import { rowCodes } from "../../core/row-codes.js";
import { type FindingStatus, type Verdict, verdicts } from "../../core/finding.js";
import { zeros } from "../../core/row.js";
import { decisiveMembers } from "../../core/verdict.js";
import {
  answeredLookups,
  rowHasOtherWord,
  lackedMembers,
} from "../../io/formats/answered-lookups.js";
import type { OutputRecord } from "../../io/formats/types.js";
import { cutOff } from "../../core/wording/printable.js";
import { cutList, cutText, longestName } from "./phrases.js";
import { Days } from "./timeline.js";
import type { OutcomeCounts, Report, TopCounts, Offender } from "./types.js";
import type { FoundManifest } from "../../core/manifest.js";
import { createHash } from "node:crypto";

const listLength = 10;

const tagsListed = 8;

export const outcomes = [...verdicts, "part", "unchecked"] as const;

interface OutputRows {
  /** The input's own columns; none for NDJSON, whose records bring their members. */
  readonly columns: readonly string[];
  readonly records: AsyncIterable<readonly OutputRecord[]>;
}

/** Reads the rows once and counts what a report shows, in memory that does not grow with them. */
export async function tallyReport(
  output: string,
  { columns, records }: OutputRows,
  run: FoundManifest | null,
  changes: Report["changes"] = null,
): Promise<Report> {
  const tally = new ReportTally(columns, run);
  for await (const list of records) for (const record of list) tally.add(record);
  return { output, run, changes, ...tally.counted() };
}

class ReportTally {
  readonly #columns: readonly string[];
  readonly #run: FoundManifest | null;
  readonly #kinds = new Map<string, OutcomeCounts>();
  readonly #tags = new NameCounts();
  readonly #networks = new NameCounts();
  readonly #countries = new NameCounts();
  readonly #reasons = new NameCounts();
  readonly #sources = new NameCounts();
  readonly #firstSeen = new Days();
  readonly #lastSeen = new Days();
  readonly #worst = new WorstItems();

  constructor(columns: readonly string[], run: FoundManifest | null) {
    this.#columns = columns;
    this.#run = run;
  }

  add(record: OutputRecord): void {
    const verdict = verdicts.find((known) => known === record.text("verdict"));
    const kind = record.text("kind");
    const counts = this.#kinds.get(kind) ?? zeros(outcomes);
    this.#kinds.set(kind, counts);
    counts[verdict ?? (answeredLookups(record).length > 0 ? "part" : "unchecked")] += 1;
    // A section of its own counts excluded rows.
    const isTold =
      record.text("error_code") === "excluded" &&
      this.#run?.exclusions?.some(({ rows }) => rows > 0) === true;
    if (verdict === undefined && !isTold) {
      const lacked = record.text("error_code") || lackedMembers(record).join();
      const why = lacked || (rowHasOtherWord(record) ? "other_word" : "");
      this.#reasons.add(`${record.text("status")} ${why}`);
    }
    this.#sources.add(record.text("source"));
    for (const tag of new Set(record.list("tags"))) this.#tags.add(tag);
    this.#firstSeen.add(record.text("first_seen"));
    this.#lastSeen.add(record.text("last_seen"));
    if (verdict !== undefined && verdict !== "none") this.#accuse(record, kind, verdict);
  }

  #accuse(record: OutputRecord, kind: string, verdict: Verdict): void {
    const network = joined([record.text("asn"), record.text("as_name")], " ");
    const country = record.text("as_country");
    this.#networks.add(network);
    this.#countries.add(country);
    const observations =
      numberIn(record.text("honeypot_observations")) +
      numberIn(record.text("spamtrap_observations"));
    const lastSeen = record.text("last_seen");
    this.#worst.add({ kind, item: record.text("item"), verdict, observations, lastSeen }, () => ({
      tags: cutList(record.list("tags"), tagsListed),
      network: cutText(joined([network, country], ", "), longestName),
      abuseEmail: cutText(record.text("abuse_email"), longestName),
      abuseStatus: cutText(record.text("abuse_status"), longestName),
      own: ownCells(record, this.#columns, this.#itemColumn(record)),
    }));
  }

  counted(): Omit<Report, "output" | "run" | "changes"> {
    const kinds = Array.from(this.#kinds, ([kind, counts]) => ({ kind, outcomes: counts }));
    const all = zeros(outcomes);
    for (const { outcomes: counts } of kinds) {
      for (const outcome of outcomes) all[outcome] += counts[outcome];
    }
    return {
      rows: total(all),
      outcomes: all,
      kinds: kinds.sort((a, b) => total(b.outcomes) - total(a.outcomes)),
      tags: this.#tags.top(listLength),
      networks: this.#networks.top(listLength),
      countries: this.#countries.top(listLength),
      firstSeen: this.#firstSeen,
      lastSeen: this.#lastSeen,
      offenders: this.#worst.worst(),
      reasons: this.#reasons.top(2 * listLength).entries.map(reasonOf),
      sources: Object.fromEntries(
        this.#sources.top(listLength).entries.map(({ name, count }) => [name, count]),
      ),
    };
  }

  #itemColumn(record: OutputRecord): string | null {
    const { input, inputs = [] } = this.#run ?? {};
    const own = inputs.find(({ path }) => path === record.text("file"));
    return record.text("column") || (input?.item_column ?? own?.item_column ?? null);
  }
}

export function total(counts: OutcomeCounts): number {
  return outcomes.reduce((sum, outcome) => sum + counts[outcome], 0);
}

function joined(texts: readonly string[], separator: string): string {
  return texts.filter((text) => text !== "").join(separator);
}

function numberIn(text: string): number {
  const number = Number(text);
  return number >= 0 && Number.isSafeInteger(number) ? number : 0;
}

function reasonOf({
  name,
  count,
}: {
  readonly name: string;
  readonly count: number;
}): Report["reasons"][number] {
  const [status = "", code = ""] = name.split(" ");
  const [meaning] = codes.get(code) ?? [];
  const lacked = decisiveMembers.filter((member) => code.split(",").includes(member));
  const lacks = `the answer lacks ${lacked.map((member) => memberNames[member]).join(" and ")}`;
  return {
    name: code,
    count,
    status: status as FindingStatus,
    meaning: meaning ?? (lacked.length > 0 ? lacks : ""),
  };
}

const memberNames = { intent: "the intent", serviceMailBlocklist: "the mail blocklist status" };

const codes = new Map<string, readonly string[]>([
  ...Object.entries(rowCodes),
  ["other_word", ["the answer has an intent or blocklist status that the interface does not list"]],
]);

/** Maximum distinct names: 65,536 of up to 120 characters take about 16 MB. */
export const mostNames = 65_536;

/** Counts by name in bounded memory: once full, it counts the names it knows and the rest as one. */
class NameCounts {
  readonly #counts = new Map<string, number>();
  #uncounted = 0;

  /** "" stands for no name. */
  add(name: string): void {
    if (name === "") return;
    const key = cutOff(name, longestName);
    const count = this.#counts.get(key);
    if (count !== undefined) this.#counts.set(key, count + 1);
    else if (this.#counts.size < mostNames) this.#counts.set(key, 1);
    else this.#uncounted += 1;
  }

  top(length: number): TopCounts {
    const entries = Array.from(this.#counts, ([name, count]) => ({ name, count }))
      .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
      .slice(0, length);
    return { entries, distinct: this.#counts.size, uncounted: this.#uncounted };
  }
}

/** Columns of the input shown for an item; further ones are counted. */
const mostColumns = 8;

/** Longest part of a cell that is kept: enough to recognise the row by. */
const longestCell = 160;

type OwnCells = readonly (readonly [name: string, cell: string])[];

/** The cells of the input's own columns that are not empty, that of the item left out. */
function ownCells(
  { cells, json }: Pick<OutputRecord, "cells" | "json">,
  columns: readonly string[],
  itemColumn: string | null,
): OwnCells {
  const all =
    json === null
      ? cells.map((cell, index) => [columns[index] ?? "", cell] as const)
      : Object.entries(JSON.parse(json) as Record<string, unknown>).map(
          ([name, value]) =>
            [name, typeof value === "string" ? value : JSON.stringify(value)] as const,
        );
  const own = all.filter(([name, cell]) => cell !== "" && name.trim() !== itemColumn?.trim());
  const kept = own
    .slice(0, mostColumns)
    .map(([name, cell]) => [cutText(name, longestCell), cutText(cell, longestCell)] as const);
  const more = own.length - kept.length;
  return more > 0 ? [...kept, ["", `and ${more} more`]] : kept;
}

const shown = 100;

/** Distinct items that are counted exactly; beyond, the report says "more than". */
const mostItems = 100_000;

type Entry = { -readonly [Member in keyof Offender]: Offender[Member] };

class WorstItems {
  readonly #entries = new Map<string, Entry>();
  readonly #items = new Set<string>();
  /** The least of the kept entries when the list was last cut; lesser ones need not be kept. */
  #threshold: Rank | null = null;
  #itemsAreMore = false;

  add(rank: Rank, describe: () => Omit<Offender, "rows" | keyof Rank>): void {
    const key = keyOf(rank);
    if (this.#items.size < mostItems) this.#items.add(key);
    else if (!this.#items.has(key)) this.#itemsAreMore = true;
    const known = this.#entries.get(key);
    if (known !== undefined) {
      known.rows += 1;
      return;
    }
    if (this.#threshold !== null && worseFirst(rank, this.#threshold) >= 0) return;
    this.#entries.set(key, { ...rank, ...describe(), rows: 1 });
    if (this.#entries.size >= 4 * shown) this.#cut();
  }

  worst(): Report["offenders"] {
    this.#cut();
    return {
      worst: [...this.#entries.values()],
      items: this.#items.size,
      itemsAreMore: this.#itemsAreMore,
    };
  }

  #cut(): void {
    const sorted = [...this.#entries].sort(([, a], [, b]) => worseFirst(a, b));
    this.#entries.clear();
    for (const [key, entry] of sorted.slice(0, shown)) this.#entries.set(key, entry);
    if (sorted.length >= shown) this.#threshold = sorted[shown - 1]![1];
  }
}

/** Decides on an item's place; equal in all of its rows. */
type Rank = Pick<Offender, "kind" | "item" | "verdict" | "observations" | "lastSeen">;

/** Gravest verdict first, then most observations, then last seen most recently. */
function worseFirst(a: Rank, b: Rank): number {
  return (
    verdicts.indexOf(a.verdict) - verdicts.indexOf(b.verdict) ||
    b.observations - a.observations ||
    compare(b.lastSeen, a.lastSeen) ||
    compare(a.item, b.item)
  );
}

/** Items of any length take little memory. */
function keyOf({ kind, item }: Rank): string {
  const key = `${kind} ${item}`;
  return key.length <= longestKey ? key : createHash("sha256").update(key).digest("base64");
}

const longestKey = 100;

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
