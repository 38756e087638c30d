import { isWellFormed } from "./bytes.js";
import {
  type Finding,
  type FindingError,
  firstAnswer,
  lookupEndpoints,
  memberOf,
  type Verdict,
} from "./finding.js";
import { type Item, parseKindName } from "./item/item.js";
import { parseExact, wellFormedJson } from "./json-members.js";
import { verdictOf } from "./verdict.js";

/** One input record as read. Every record becomes exactly one output row. */
export interface Row {
  /** Position in the input, from 1, not counting the header and skipped lines. */
  readonly number: number;
  /** One text per input column, padded with "" if the record is short. */
  readonly cells: readonly string[];
  /** Which cells are null rather than empty, for inputs that have both. */
  readonly nulls?: readonly boolean[];
  /** What doesn't fit the columns, as JSON text (array of cells or object of members), or null. */
  readonly extra: string | null;
  /** The record's JSON object as written in the input (NDJSON), or null. */
  readonly json: string | null;
  readonly itemText: string;
  /** True if the item is a JSON value other than text (array, object, number, boolean). */
  readonly itemNotText?: boolean;
  readonly kindText: string;
  /** Set if the row must not be sent, whatever its item. */
  readonly held?: FindingError;
  /** Set if the line is not a record (broken JSON): the row becomes `failed` with this error. */
  readonly fault: FindingError | null;
  /** Its cells in the Parquet file that a retry copies, in the order of the columns. */
  readonly saved?: readonly (string | readonly string[] | null)[];
  readonly before?: Finding;
  /** Bytes of its record, about. The first row of a record has them, the others have none. */
  readonly size: number;
  /** Name of the file it comes from, if the input is several files. */
  readonly file?: string;
  readonly column?: string;
}

export function itemRow(text: string, number: number, size = 0): Row {
  return {
    number,
    cells: [text],
    extra: null,
    json: null,
    itemText: text,
    kindText: "",
    fault: null,
    size,
  };
}

export interface EnrichedRow {
  readonly row: Row;
  /** Null if the text is not a supported item, or the line is not a record. */
  readonly item: Item | null;
  readonly finding: Finding;
  /** Its number among the written rows, from 1. @default that of the row */
  readonly written?: number;
}

/**
 * Warnings about a row, as messages to be counted. They depend on the row alone, so a resumed run
 * counts the same as an uninterrupted one.
 *
 * @param item the item of the row; null if it has none
 */
export function rowWarnings(row: Row, item: Item | null): readonly string[] {
  return warnings.filter(([, applies]) => applies(row, item)).map(([message]) => message);
}

export const surplusCells = "row with more cells than there are columns";

const warnings: readonly (readonly [string, (row: Row, item: Item | null) => boolean])[] = [
  [
    "row with invalid UTF-8: CSV and TSV keep its bytes, other outputs have U+FFFD instead; if it is Windows-1252, use --encoding windows-1252",
    (row) => !isUtf8(row),
  ],
  [surplusCells, ({ extra, json, fault }) => extra !== null && json === null && fault === null],
  [
    "values in the kind column were ignored: unrecognised, or not the item's kind",
    ({ kindText }, item) => kindText !== "" && !isKindOf(item, kindText),
  ],
  [
    "wallet address in a mixed case that fails its checksum (EIP-55); taken in lower case",
    ({ itemText }, item) => item?.kind === "crypto_wallet" && hasWrongCase(itemText, item.value),
  ],
];

export function isUtf8({ json, cells, extra }: Row): boolean {
  if (json !== null) return isWellFormed(json);
  return cells.every(isWellFormed) && (extra === null || extra === wellFormedJson(extra));
}

/** Whether a kind column's text is a kind, and that of the item if there is one. */
function isKindOf(item: Item | null, text: string): boolean {
  const kind = parseKindName(text);
  return kind !== null && (item === null || item.kind === kind);
}

/** Whether an Ethereum address is written in mixed case, which is a checksum, but not its own (EIP-55). */
function hasWrongCase(text: string, address: string): boolean {
  const digits = /0x([\da-f]{40})/i.exec(text)?.[1] ?? "";
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  return isMixed && `0x${digits}` !== address;
}

export const leftOutReasons = ["distinct", "only"] as const;

export type LeftOutReason = (typeof leftOutReasons)[number];

export function zeros<K extends string>(names: readonly K[]): Record<K, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<K, number>;
}

export function nestedFacts(
  item: Item | null,
  finding: Finding,
  verdict: Verdict | null = verdictOf(finding),
): Record<string, unknown> {
  const facts: Record<string, unknown> = {
    item: item?.value ?? null,
    kind: item?.kind ?? null,
    status: finding.status,
    verdict,
    missing: finding.missing,
  };
  for (const { endpoint, member } of slots) {
    facts[member] = finding.answers[endpoint]?.result ?? null;
  }
  facts["source"] = item === null ? null : finding.source;
  facts["http_status"] = finding.httpStatus;
  facts["attempts"] = finding.attempts;
  facts["looked_up_at"] = finding.lookedUpAt;
  facts["error"] = finding.error;
  return facts;
}

/** The same without the answers of the service. */
export function ownFacts(item: Item | null, finding: Finding): Record<string, unknown> {
  const facts = nestedFacts(item, finding);
  for (const { member } of slots) delete facts[member];
  return facts;
}

/** The result of the first answer, with all digits of its numbers where its text was kept. */
export function exactResult(finding: Finding): object | null {
  const answer = firstAnswer(finding);
  if (answer?.text !== undefined) return parseExact(answer.text) as object;
  return answer && answer.result;
}

/** Nested members as JSON text. Results are copied as received where their text was kept. */
export function nestedText(facts: Readonly<Record<string, unknown>>, finding: Finding): string {
  const texts: Record<string, string | undefined> = {};
  let isReceived = false;
  for (const { endpoint, member } of slots) {
    const text = finding.answers[endpoint]?.text;
    if (text === undefined) continue;
    texts[member] = text;
    isReceived = true;
  }
  if (!isReceived) return JSON.stringify(facts);
  const members = Object.entries(facts).map(
    ([name, value]) => `"${name}":${texts[name] ?? JSON.stringify(value)}`,
  );
  return `{${members.join(",")}}`;
}

const slots = lookupEndpoints.map((endpoint) => ({ endpoint, member: memberOf(endpoint) }));
