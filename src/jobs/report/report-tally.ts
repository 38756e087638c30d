import { rowCodes } from "../../core/row-codes.js";
import { type FindingStatus, type Verdict, verdicts } from "../../core/finding.js";
import { cellText, memberTexts } from "../../core/json-members.js";
import { zeros } from "../../core/row.js";
import { decisiveColumns, decisiveMembers, isOtherWord } from "../../core/verdict.js";
import { answeredLookups } from "../../io/output/output-row.js";
import type { OutputRecord } from "../../io/formats/types.js";
import type { OutputReading } from "../../io/output/read.js";
import { cutOff } from "../../core/wording/printable.js";
import { counted, formatCount } from "../../core/wording/quantity.js";
import { addCount, type Counts, otherNames } from "../enrich/counters.js";
import type { Change, DiffCounts } from "../diff/diff-outputs.js";
import { cutList, cutText, longestName } from "./phrases.js";
import type { FoundManifest } from "../../core/manifest.js";

const listLength = 10;

const tagsListed = 8;

/** A row's verdict; without one, `part` if any answer is there, else `unchecked`. */
export const outcomes = [...verdicts, "part", "unchecked"] as const;

type OutcomeCounts = Record<(typeof outcomes)[number], number>;

interface Changes {
  readonly earlier: string;
  readonly counts: DiffCounts;
  readonly worst: readonly Change[];
}

export interface Report extends ReturnType<ReportTally["counted"]> {
  readonly output: string;
  /** The manifest of its run; null without one. */
  readonly run: FoundManifest | null;
  /** Null without an earlier output (`--against`). */
  readonly changes: Changes | null;
}

export interface Offender extends Rank {
  readonly rows: number;
  readonly tags: readonly string[];
  /** AS number, name and country, where known. */
  readonly network: string;
  readonly abuseEmail: string;
  /** The input's own columns in the item's first row: name and cell. */
  readonly own: OwnCells;
}

/** What orders the items; the same in all rows of an item. */
interface Rank {
  readonly kind: string;
  readonly item: string;
  readonly verdict: Verdict;
  readonly observations: number;
  readonly lastSeen: string;
}

/** Reads the rows once and counts what a report shows, in bounded memory. */
export async function tallyReport(
  output: string,
  reading: OutputReading,
  changes: Changes | null = null,
): Promise<Report> {
  const tally = new ReportTally(reading);
  for await (const list of reading.records) for (const record of list) tally.add(record);
  return { output, run: reading.manifest, changes, ...tally.counted() };
}

class ReportTally {
  readonly #reading: OutputReading;
  readonly #kinds = new Map<string, OutcomeCounts>();
  readonly #tags: Counts = new Map();
  readonly #networks: Counts = new Map();
  readonly #countries: Counts = new Map();
  readonly #reasons: Counts = new Map();
  readonly #sources: Counts = new Map();
  readonly #firstSeen: Counts = new Map();
  readonly #lastSeen: Counts = new Map();
  readonly #worst = new WorstItems();

  constructor(reading: OutputReading) {
    this.#reading = reading;
  }

  add(record: OutputRecord): void {
    const verdict = verdicts.find((known) => known === record.text("verdict"));
    const kind = record.text("kind");
    const counts = this.#kinds.get(kind) ?? zeros(outcomes);
    this.#kinds.set(kind, counts);
    counts[verdict ?? (answeredLookups(record).length > 0 ? "part" : "unchecked")] += 1;
    if (verdict === undefined) {
      const why = record.text("error_code") || undecided(record);
      addName(this.#reasons, `${record.text("status")} ${why}`);
    }
    addName(this.#sources, record.text("source"));
    for (const tag of new Set(record.list("tags"))) addName(this.#tags, tag);
    addName(this.#firstSeen, monthOf(record.text("first_seen")));
    addName(this.#lastSeen, monthOf(record.text("last_seen")));
    if (verdict !== undefined && verdict !== "none") this.#accuse(record, kind, verdict);
  }

  #accuse(record: OutputRecord, kind: string, verdict: Verdict): void {
    const network = joined([record.text("asn"), record.text("as_name")], " ");
    const country = record.text("as_country");
    addName(this.#networks, network);
    addName(this.#countries, country);
    const observations =
      numberIn(record.text("honeypot_observations")) +
      numberIn(record.text("spamtrap_observations"));
    const lastSeen = record.text("last_seen");
    this.#worst.add({ kind, item: record.text("item"), verdict, observations, lastSeen }, () => ({
      tags: cutList(record.list("tags"), tagsListed),
      network: cutText(joined([network, country], ", "), longestName),
      abuseEmail: cutText(record.text("abuse_email"), longestName),
      own: ownCells(record, this.#reading.columns, this.#itemColumn(record)),
    }));
  }

  counted() {
    const kinds = Array.from(this.#kinds, ([kind, counts]) => ({ kind, outcomes: counts }));
    const all = zeros(outcomes);
    for (const { outcomes: counts } of kinds) {
      for (const outcome of outcomes) all[outcome] += counts[outcome];
    }
    return {
      rows: total(all),
      outcomes: all,
      /** Outcomes by kind of item, the most frequent kind first; "" for rows without an item. */
      kinds: kinds.sort((a, b) => total(b.outcomes) - total(a.outcomes)),
      tags: top(this.#tags, listLength),
      /** Networks of malicious, suspicious and listed rows. */
      networks: top(this.#networks, listLength),
      countries: top(this.#countries, listLength),
      /** Rows by month, such as `2026-01`. */
      firstSeen: this.#firstSeen,
      lastSeen: this.#lastSeen,
      offenders: this.#worst.worst(),
      reasons: top(this.#reasons, 2 * listLength).entries.map(reasonOf),
      sources: top(this.#sources, listLength).entries,
    };
  }

  #itemColumn(record: OutputRecord): string | null {
    const { input, inputs = [] } = this.#reading.manifest ?? {};
    const own = inputs.find(({ path }) => path === record.text("file"));
    return record.text("column") || (input?.item_column ?? own?.item_column ?? null);
  }
}

/** The month of an RFC 3339 time; "" if invalid or not in this century. */
function monthOf(time: string): string {
  return /^20\d\d-(?:0[1-9]|1[0-2])(?=-\d\d)/.exec(time)?.[0] ?? "";
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

/** Why rows have no verdict. The name is a status and an error code, or what the answer lacks. */
function reasonOf({ name, count }: ReturnType<typeof top>["entries"][number]) {
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
const mostNames = 65_536;

/** "" stands for no name. */
function addName(counts: Counts, name: string): void {
  if (name !== "") addCount(counts, cutOff(name, longestName), 1, mostNames);
}

/** The most frequent names, and what they leave out; "" for nothing. */
function top(counts: Counts, length: number) {
  const named = Array.from(counts, ([name, count]) => ({ name, count })).filter(
    ({ name }) => name !== otherNames,
  );
  const entries = named
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
    .slice(0, length);
  const others = counts.get(otherNames) ?? 0;
  const rest = `, and ${counted(others, "row")} whose names were too many to tell apart`;
  const left = named.length - entries.length;
  const more = left > 0 ? `${formatCount(left)} more${others > 0 ? rest : ""}` : "";
  return { entries, more };
}

/** Maximum input columns shown for an item; the rest are only counted. */
const mostColumns = 8;

/** Longest part of a cell to keep: enough to recognise the row. */
const longestCell = 160;

type OwnCells = readonly (readonly [name: string, cell: string])[];

/** The non-empty cells of the input's own columns, without the item. */
function ownCells(
  { cells, json }: Pick<OutputRecord, "cells" | "json">,
  columns: readonly string[],
  itemColumn: string | null,
): OwnCells {
  const all =
    json === null
      ? cells.map((cell, index) => [columns[index] ?? "", cell] as const)
      : Array.from(memberTexts(json), ([name, value]) => [name, cellText(value)] as const);
  const own = all.filter(([name, cell]) => cell !== "" && name.trim() !== itemColumn?.trim());
  const kept = own
    .slice(0, mostColumns)
    .map(([name, cell]) => [cutText(name, longestCell), cutText(cell, longestCell)] as const);
  const more = own.length - kept.length;
  return more > 0 ? [...kept, ["", `and ${more} more`]] : kept;
}

const offendersShown = 100;

class WorstItems {
  readonly #entries = new Map<string, Offender>();
  /** The lowest entry kept by the last cut; nothing below it can be shown. */
  #threshold: Rank | undefined;

  add(rank: Rank, describe: () => Omit<Offender, "rows" | keyof Rank>): void {
    const key = `${rank.kind} ${rank.item}`;
    const known = this.#entries.get(key);
    if (known !== undefined) this.#entries.set(key, { ...known, rows: known.rows + 1 });
    else if (this.#threshold === undefined || worseFirst(rank, this.#threshold) < 0) {
      this.#entries.set(key, { ...rank, ...describe(), rows: 1 });
      if (this.#entries.size >= 4 * offendersShown) this.#cut();
    }
  }

  worst() {
    const areMore = this.#threshold !== undefined || this.#entries.size > offendersShown;
    this.#cut();
    return { worst: [...this.#entries.values()], areMore };
  }

  #cut(): void {
    const sorted = [...this.#entries].sort(([, a], [, b]) => worseFirst(a, b));
    const kept = sorted.slice(0, offendersShown);
    this.#entries.clear();
    for (const [key, entry] of kept) this.#entries.set(key, entry);
    this.#threshold = kept[offendersShown - 1]?.[1];
  }
}

/** Worst verdict first, then most observations, then most recently seen. */
function worseFirst(a: Rank, b: Rank): number {
  return (
    verdicts.indexOf(a.verdict) - verdicts.indexOf(b.verdict) ||
    b.observations - a.observations ||
    compare(b.lastSeen, a.lastSeen) ||
    compare(a.item, b.item)
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * What keeps answers from having a verdict: the members that none of them has, neither a partial one nor
 * another endpoint's; else an undocumented intent or mail blocklist status.
 */
function undecided(row: OutputRecord): string {
  const missing = row.list("missing");
  const members = decisiveMembers.map((member) => {
    const words = decisiveColumns[member].map((column) => row.text(column));
    return { member, words: words.filter((word) => word !== "") };
  });
  const lacked = members.filter(
    ({ member, words }) => missing.includes(member) && words.length === 0,
  );
  if (lacked.length > 0) return lacked.map(({ member }) => member).join();
  const isOther = members.some(({ member, words }) =>
    words.some((word) => isOtherWord(member, word)),
  );
  return isOther ? "other_word" : "";
}
