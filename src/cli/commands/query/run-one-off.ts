import {
  type FindingStatus,
  findingStatuses,
  type LookupEndpoint,
  unasked,
  type Finding,
} from "../../../core/finding.js";
import { hasOtherWord } from "../../../core/verdict.js";
import { recogniseItem } from "../../../core/item/recognise.js";
import { inOrder } from "../../../client/lookup/in-order.js";
import { openRequests } from "../../../client/lookup/options.js";
import type { Lookup } from "../../../client/lookup/types.js";
import { countedWarning, otherWords } from "../../../jobs/enrich/counters.js";
import type { FailOn } from "../../../jobs/enrich/failure-limits.js";
import { MemoryStore } from "../../../client/store/store.js";
import type { CommandCall } from "../../command.js";
import { exitCodeOfRun, exitCodes } from "../../../jobs/enrich/ending.js";
import {
  type OutputCall,
  printRecords,
  wantsLines,
  writeOut,
  type CardField,
  type CardSection,
  printCard,
  wrapWords,
} from "../../terminal/data-output.js";
import type { Session } from "../../../client/session/session.js";
import type { SessionSettings } from "../../../client/session/types.js";
import { type ServiceChoice, withServices, withSession } from "../../services/services.js";
import { createInterface } from "node:readline";
import { UsageError } from "../../../core/errors.js";
import type { CliContext } from "../../terminal/cli-context.js";
import { columns } from "../../../core/columns.js";
import { nestedFacts, nestedText, itemRow } from "../../../core/row.js";
import type { Item } from "../../../core/item/item.js";
import { printable } from "../../../core/wording/printable.js";
import { counted } from "../../../core/wording/quantity.js";
import { paintFor } from "../../terminal/terminal-output.js";

type Settings = ServiceChoice &
  SessionSettings & {
    readonly partialRetries?: number;
    readonly failOn: FailOn;
  } & OutputCall["settings"];

type Call = CommandCall<Settings>;

/**
 * Looks up the items, prints them in the given order, and resolves to the exit code.
 *
 * @param columns of the table on a terminal, besides those of every endpoint
 */
export async function runOneOff(
  call: Call,
  endpoint: LookupEndpoint,
  columns: AnswerColumns,
): Promise<number> {
  const { context, settings } = call;
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  const items = oneOffItems(call.operands, context, signal);
  const counts = Object.fromEntries(findingStatuses.map((status) => [status, 0])) as Record<
    FindingStatus,
    number
  >;
  let hasNoItem = false;
  const lookAllUp = async (session: Session): Promise<void> => {
    const { lookup, address } = await session.lookup({
      settings: { partialRetries: 0, ...settings, lookups: [endpoint] },
      store: new MemoryStore(),
      asReceived: true,
      // A process signal aborts open requests; a fatal lookup only aborts those not yet sent.
      requests: context.signal,
    });
    const work = answerWith(lookup, signal, stop);
    let others = 0;
    async function* answers(): AsyncGenerator<AnsweredItem, void, undefined> {
      // In the order of the items: each once it and all before it are answered.
      for await (const answer of inOrder(items, work, openRequests(settings) * 2)) {
        counts[answer.finding.status]++;
        const { item, finding } = answer;
        // A host that must not be sent is an item all the same.
        if (item === null && finding.error?.code !== "internal_host") hasNoItem = true;
        if (hasOtherWord(answer.finding)) others++;
        yield answer;
      }
    }
    await printAnswers(call, answers(), columns);
    const warnings = others === 0 ? [] : [countedWarning(otherWords, others)];
    for (const message of [...address.warnings(), ...warnings]) context.reporter.warning(message);
  };
  await withServices(["intel"], call, ({ intel }) =>
    withSession(intel, call, lookAllUp, { onEarlyEnd: (error) => stop.abort(error) }),
  );
  const code = exitCodeOfRun(settings.failOn, counts);
  const countsItems = settings.failOn.statuses.length > 0;
  return code === exitCodes.done && hasNoItem && countsItems ? exitCodes.rowsFailed : code;
}

function answerWith(
  lookup: Lookup,
  signal: AbortSignal,
  stop: AbortController,
): (text: string) => Promise<AnsweredItem> {
  return async (text) => {
    const { item, reason } = recogniseItem(text);
    if (item === null) return { text, item, finding: unasked("unsupported", reason) };
    try {
      return { text, item, finding: await lookup(item, { signal }) };
    } catch (error) {
      stop.abort(error);
      throw error;
    }
  };
}

/**
 * The items to look up. `-`, or no operand with piped stdin, reads lines from stdin; blank lines and
 * `#` comments are skipped.
 *
 * @throws UsageError if there are none
 */
function oneOffItems(
  operands: readonly string[],
  context: CliContext,
  signal: AbortSignal,
): AsyncIterable<string> {
  if (operands.length === 0 && context.stdin().isTTY === true) {
    throw new UsageError("item_missing", "nothing to look up", {
      hint: "name an item, or pipe items in, one per line",
    });
  }
  return readItems(operands.length === 0 ? ["-"] : operands, context, signal);
}

async function* readItems(
  operands: readonly string[],
  context: CliContext,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  for (const operand of operands) {
    if (operand === "-") yield* stdinLines(context, signal);
    else yield operand;
  }
}

async function* stdinLines(
  context: CliContext,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const lines = createInterface({
    input: context.stdin(),
    crlfDelay: Number.POSITIVE_INFINITY,
    signal,
  });
  for await (const line of lines) {
    const text = line.trim();
    if (text !== "" && !text.startsWith("#")) yield text;
  }
  signal.throwIfAborted();
}

/** One argument of `query` or `quick-check`, and its finding. */
export interface AnsweredItem {
  readonly text: string;
  /** Null if the text is not a supported item. */
  readonly item: Item | null;
  readonly finding: Finding;
}

/** Columns of a table: title and name in the row schema, without prefix. */
type AnswerColumns = readonly (readonly [title: string, column: string])[];

const firstColumns = ["item", "kind", "status", "verdict"].map((name) => [name, name] as const);

/**
 * Prints answers as JSON lines; on a terminal, one answer as a card and several as a table.
 *
 * @param own columns of the table besides item, kind, status, verdict and error
 */
export async function printAnswers(
  call: OutputCall,
  answers: AsyncIterable<AnsweredItem>,
  own: AnswerColumns,
): Promise<void> {
  const shown = [...firstColumns, ...own, ["error", "error_code"] as const].map(
    ([title, name]) => [title, (answer: AnsweredItem) => answerCell(answer, name)] as const,
  );
  if (wantsLines(call)) return printRecords(call, answers, shown, { toLine: answerLine });
  const { context } = call;
  const all: AnsweredItem[] = [];
  for await (const answer of answers) all.push(answer);
  const [first, ...others] = all;
  if (first !== undefined && others.length === 0) {
    printCard(context.stdout, answerCard(first), paintFor(context));
    return;
  }
  await printRecords(call, all, shown, { whole: ["status", "verdict"] });
  const lines = errorLines(all, context.stdout.columns || 80);
  if (lines.length > 0) await writeOut(context, `\n${lines.join("\n")}\n`);
}

/** Each error below the table: its code and message are too long for a column. */
function errorLines(answers: readonly AnsweredItem[], width: number): readonly string[] {
  const errors = new Map<string, number>();
  for (const { finding } of answers) {
    if (finding.error === null) continue;
    const text = `${finding.error.code}: ${finding.error.message}`;
    errors.set(text, (errors.get(text) ?? 0) + 1);
  }
  return [...errors].flatMap(([text, count]) => {
    const times = count > 1 ? ` (${counted(count, "item")})` : "";
    return wrapWords(printable(text.replaceAll("\n", " ")) + times, width - 2);
  });
}

/**
 * The finding as one line of JSON, with the members of nested output. An unsupported argument is its
 * own `item`, so that its line can be recognised.
 */
function answerLine({ text, item, finding }: AnsweredItem): string {
  return nestedText({ ...nestedFacts(item, finding), item: item?.value ?? text }, finding);
}

/**
 * The value of a column (without prefix) as text. A flag shows only where it is set: few addresses are
 * bogons, and empty columns are dropped.
 */
function answerCell({ text, item, finding }: AnsweredItem, name: string): string {
  if (name === "item") return item?.value ?? text;
  const row = itemRow(text, { number: 1, line: 1, end: 0 });
  const value = columns.find((column) => column.name === name)?.value({ row, item, finding });
  if (value === undefined || value === null || value === false) return "";
  if (value === true) return "yes";
  return Array.isArray(value) ? value.join(", ") : String(value);
}

/** The sections of a card in order. Paths are matched in order; the last section takes the rest. */
const sections: readonly (readonly [title: string, paths: RegExp])[] = [
  ["", /^(verdict|status|missing|error\b.*)$/],
  ["item", /^(item|kind|type|bogon)$/],
  ["lists", /^(\w+MailBlocklist|intent|tags|activity)\b/],
  ["dates", /^(firstSeen|lastSeen)$/],
  ["network", /^(asn|reverseDns)\b/],
  ["abuse contact", /^abuseContact\b/],
  ["observations", /^observedActivity\b/],
  ["requests", /^(source|http_status|attempts|looked_up_at)$/],
  ["other", /^/],
];

/** Labels by path, where the names of the members don't say it. */
const labels: Readonly<Record<string, string>> = {
  "error.code": "error",
  "error.message": "message",
  abusixMailBlocklist: "mail blocklist",
  serviceMailBlocklist: "mail blocklist",
  "asn.asn": "AS",
  "asn.name": "name",
  "asn.countryCode": "country",
  "reverseDns.current": "reverse DNS",
  http_status: "HTTP status",
};

/** Prefixes that the title of the section makes redundant. */
const redundant = /^(?:observedActivity|abuseContact|asn|reverseDns)\./;

/** Everything that the JSON line of an answer says, in labelled groups, the verdict first. */
function answerCard({ text, item, finding }: AnsweredItem): readonly CardSection[] {
  const facts: Readonly<Record<string, unknown>> = nestedFacts(item, finding);
  const { verdict, query, quick_check: quickCheck, ...rest } = facts;
  const own = { verdict, ...rest, item: item?.value ?? text };
  const found = new Map<string, CardField[]>(sections.map(([title]) => [title, []]));
  const known = new Set<string>();
  for (const record of [own, query, quickCheck]) {
    for (const [path, value] of fieldsOf(record)) {
      // The service repeats the item.
      const id = `${path}\n${value}`;
      if (known.has(id)) continue;
      known.add(id);
      const [title] = sections.find(([, paths]) => paths.test(path)) ?? ["other"];
      found.get(title)?.push([labelOf(path), value]);
    }
  }
  return sections.map(([title]) => ({ title, fields: found.get(title) ?? [] }));
}

type Field = readonly [path: string, text: string];

/** The fields of a record. Nothing is said about a failure that did not happen. */
function* fieldsOf(record: unknown): Generator<Field, void, undefined> {
  for (const [name, value] of Object.entries(record ?? {})) {
    const isAbsent = value === null || (Array.isArray(value) && value.length === 0);
    if (isAbsent && (name === "error" || name === "missing")) continue;
    if (name === "verdict") yield [name, verdictText(value)];
    else yield* valueFields(name, value);
  }
}

/** `none` must not read as safe. */
function verdictText(verdict: unknown): string {
  if (verdict === null) return "unknown";
  return verdict === "none" ? "none (nothing known)" : plainText(verdict);
}

function* valueFields(path: string, value: unknown): Generator<Field, void, undefined> {
  if (Array.isArray(value)) {
    yield [path, listText(value)];
  } else if (typeof value === "object" && value !== null && Object.keys(value).length > 0) {
    for (const [name, inner] of Object.entries(value)) yield* valueFields(`${path}.${name}`, inner);
  } else {
    yield [path, plainText(value)];
  }
}

/** Whether an entry of a list has more than one value. */
function hasDetails(entry: unknown): boolean {
  return typeof entry === "object" && entry !== null && Object.keys(entry).length > 1;
}

/** Single values on one line, else one line per entry after their number. */
function listText(list: readonly unknown[]): string {
  const lines = list.map(entryText);
  if (!list.some(hasDetails)) return lines.join(", ") || "-";
  return lines.length === 1 ? lines.join("") : [`${lines.length}:`, ...lines].join("\n");
}

/** An entry of a list in one line: its time span, then its other members. */
function entryText(entry: unknown): string {
  if (typeof entry !== "object" || entry === null) return plainText(entry);
  const { firstSeen, lastSeen, ...others } = entry as Readonly<Record<string, unknown>>;
  const span = [firstSeen, lastSeen].filter((time) => time !== undefined).map(plainText);
  const rest = Object.entries(others).flatMap(([name, value]) =>
    Array.from(valueFields(name, value)),
  );
  const details = rest.map(([path, text]) =>
    rest.length === 1 && path === "entry" ? text : `${labelOf(path)} ${text}`,
  );
  return [...(span.length === 0 ? [] : [span.join(" to ")]), ...details].join(", ");
}

function plainText(value: unknown): string {
  if (value === null || value === "" || typeof value === "object") return "-";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A path as words: `honeypotInteractions.firstSeen` is `honeypot first seen`. */
function labelOf(path: string): string {
  const label = labels[path];
  if (label !== undefined) return label;
  return path
    .replace(redundant, "")
    .replaceAll("Interactions.", " ")
    .replaceAll(/[._]/g, " ")
    .replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
