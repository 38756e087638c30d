import { type LookupEndpoint, unasked, type Finding } from "../../core/finding.js";
import { hasOtherWord } from "../../core/verdict.js";
import { recogniseItem } from "../../core/item/recognise.js";
import { inOrder } from "../../client/lookup/in-order.js";
import { lookupOptions, openRequests } from "../../client/lookup/options.js";
import { countedWarning, otherWords } from "../../jobs/enrich/counters.js";
import { runOptions } from "../../jobs/enrich/options.js";
import { MemoryStore } from "../../client/store/store.js";
import { type CommandCall, defineCommand, quotaCode, type SettingsOf } from "../command.js";
import { exitCodeOfRun, exitCodes } from "../../jobs/enrich/ending.js";
import {
  type OutputCall,
  printRecords,
  printTable,
  showRecord,
  wantsLines,
  writeProse,
} from "../terminal/data-output.js";
import { intelCallGroups, lookupGroups, withSession } from "../sessions.js";
import { createInterface } from "node:readline";
import { UsageError } from "../../core/errors.js";
import type { CliContext } from "../terminal/cli-context.js";
import { columns } from "../../core/columns.js";
import { exactResult, nestedFacts, nestedText, itemRow, ownFacts } from "../../core/row.js";
import type { Item } from "../../core/item/item.js";
import { oneLine } from "../../core/wording/printable.js";
import { counted } from "../../core/wording/quantity.js";

const quickCheckGroups = {
  ...lookupGroups,
  Run: { failOn: runOptions.shape.failOn, ...intelCallGroups.Run },
};

const ofItems = {
  usage: "ITEM... [flags]",
  operands: [
    [
      "ITEM",
      "IP address, domain, URL, SHA1, wallet or e-mail address, defanged or not; - reads stdin, one item per line",
    ],
  ],
  exitCodes: {
    3: "done, but lookups failed, or an argument is not an item; --fail-on changes what counts",
    ...quotaCode,
  },
} as const;

export const queryCommand = defineCommand({
  ...ofItems,
  name: "query",
  summary: "look up items and print the full answers",
  description: [
    "Looks up each item and prints the full answer as one JSON object per line, in the order of the arguments. On a terminal it prints a card, or a table of several items.",
    "The verdict is that of this answer alone. enrich also does the quick check, so its verdict can be graver.",
  ],
  groups: {
    ...quickCheckGroups,
    Pace: { ...lookupGroups.Pace, partialRetries: lookupOptions.shape.partialRetries },
  },
  examples: {
    "repute query 192.0.2.1 example.com --local":
      "look up an address and a domain with the embedded service",
    "repute query --json login.example.com | jq .query.tags":
      "extract the tags; REPUTE_INTEL_URL holds the service's address",
  },
  run: (call) =>
    runOneOff(call, "query", { blocklist: "mail_blocklist", bogon: "bogon", tags: "tags" }),
});

export const quickCheckCommand = defineCommand({
  ...ofItems,
  name: "quick-check",
  summary: "look up items and print the short answers",
  description: [
    "Does a quick check of each item (blocklist status, intent, activity) and prints one JSON object per line, in the order of the arguments. On a terminal it prints a card, or a table of several items.",
  ],
  groups: quickCheckGroups,
  examples: {
    "repute quick-check 192.0.2.1 2001:db8::1 --local":
      "check two addresses with the embedded service",
    "repute quick-check example.com --intel-url https://intel.example/beta": "check a domain",
  },
  run: (call) =>
    runOneOff(call, "quick-check", {
      blocklist: "quick_mail_blocklist",
      bogon: "quick_bogon",
      activity: "quick_activity",
    }),
});

type Call = CommandCall<SettingsOf<typeof quickCheckGroups> & { readonly partialRetries?: number }>;

/**
 * Looks up the items, prints them in the given order, and resolves to the exit code.
 *
 * @param columns further columns of the table on a terminal
 */
async function runOneOff(
  call: Call,
  endpoint: LookupEndpoint,
  columns: AnswerColumns,
): Promise<number> {
  const { context, settings } = call;
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  if (call.operands.length === 0 && context.stdin().isTTY === true) {
    throw new UsageError("item_missing", "nothing to look up", {
      hint: "name an item, or pipe items in, one per line",
    });
  }
  const operands = call.operands.length === 0 ? ["-"] : call.operands;
  const counts = { complete: 0, partial: 0, invalid: 0, unsupported: 0, failed: 0 };
  let [hasNonItem, others, reserved] = [false, 0, 0];
  await withSession("intel", call, async (session) => {
    const { lookup, address } = await session.lookup({
      settings: { partialRetries: 0, ...settings, lookups: [endpoint] },
      store: new MemoryStore(),
      asReceived: true,
      // A process signal aborts open requests; a fatal lookup only aborts those not yet sent.
      requests: context.signal,
      onEarlyEnd: (error) => stop.abort(error),
    });
    const work = async (text: string): Promise<AnsweredItem> => {
      const { item, reason } = recogniseItem(text);
      if (item === null) return { text, item, finding: unasked("unsupported", reason) };
      try {
        return { text, item, finding: await lookup(item, { signal }) };
      } catch (error) {
        stop.abort(error);
        throw error;
      }
    };
    async function* answers(): AsyncGenerator<AnsweredItem, void, undefined> {
      // In input order: each answer as soon as it and all before it are there.
      const items = itemsOf(operands, context, signal);
      for await (const answer of inOrder(items, work, openRequests(settings) * 2)) {
        const { item, finding } = answer;
        counts[finding.status]++;
        // An internal host is never sent, but it is an item.
        if (item === null && finding.error?.code !== "internal_host") hasNonItem = true;
        if (hasOtherWord(finding)) others++;
        if (finding.source === "local" && finding.status === "complete") reserved++;
        yield answer;
      }
    }
    await printAnswers(call, answers(), columns);
    for (const message of address.warnings()) context.reporter.warning(message);
    tellCounts(context, others, reserved);
  });
  const code = exitCodeOfRun(settings.failOn, counts);
  const countsItems = settings.failOn.statuses.length > 0;
  return code === exitCodes.done && hasNonItem && countsItems ? exitCodes.rowsFailed : code;
}

/** Warns of words that the interface does not list, and says how many addresses repute answered itself. */
function tellCounts({ reporter }: CliContext, others: number, reserved: number): void {
  if (others > 0) reporter.warning(countedWarning(otherWords, others));
  const note = `${counted(reserved, "reserved address")} answered here, not by the service`;
  if (reserved > 0) reporter.print(`repute: note: ${note}; --bogons ask sends such items`);
}

/** The items that operands name: `-` stands for the lines of stdin, without blank lines and `#` comments. */
async function* itemsOf(
  operands: readonly string[],
  { stdin }: CliContext,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  for (const operand of operands) {
    if (operand !== "-") {
      yield operand;
      continue;
    }
    const crlfDelay = Number.POSITIVE_INFINITY;
    for await (const line of createInterface({ input: stdin(), crlfDelay, signal })) {
      const text = line.trim();
      if (text !== "" && !text.startsWith("#")) yield text;
    }
    signal.throwIfAborted();
  }
}

export interface AnsweredItem {
  readonly text: string;
  /** Null if the text is not a supported item. */
  readonly item: Item | null;
  readonly finding: Finding;
}

/** Columns of a table: for each title, the name in the row schema, without prefix. */
type AnswerColumns = Readonly<Record<string, string>>;

const firstColumns: AnswerColumns = {
  item: "item",
  kind: "kind",
  status: "status",
  verdict: "verdict",
  error: "error_code",
};

/**
 * Prints answers as JSON lines; on a terminal, one answer as a card and several as a table.
 *
 * @param own columns of the table after item, kind, status, verdict and error
 */
export async function printAnswers(
  call: OutputCall,
  answers: AsyncIterable<AnsweredItem>,
  own: AnswerColumns,
): Promise<void> {
  if (wantsLines(call)) return printRecords(call, answers, {}, answerLine);
  const all: AnsweredItem[] = [];
  for await (const answer of answers) all.push(answer);
  if (all.length === 1) return showRecord(call, answerCard(all[0]!));
  const columns = { ...firstColumns, ...own };
  const rows = all.map((answer) => Object.values(columns).map((name) => answerCell(answer, name)));
  printTable(call.context, Object.keys(columns), rows);
  const errors = errorLines(all);
  if (errors !== "") await writeProse(call.context, `\n${errors}`);
}

/** Each distinct error with its message, since a message is too long for a column. */
function errorLines(answers: readonly AnsweredItem[]): string {
  const errors = new Map<string, number>();
  for (const { finding } of answers) {
    if (finding.error === null) continue;
    const text = oneLine(`${finding.error.code}: ${finding.error.message}`);
    errors.set(text, (errors.get(text) ?? 0) + 1);
  }
  return Array.from(
    errors,
    ([text, count]) => text + (count > 1 ? ` (${counted(count, "item")})\n` : "\n"),
  ).join("");
}

/**
 * The finding as one line of JSON, with the members of nested output. For an unsupported argument,
 * `item` is the argument itself, so that its line can be found.
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
  const row = itemRow(text, 1);
  const value = columns.find((column) => column.name === name)?.value({ row, item, finding });
  if (value === undefined || value === null || value === false) return "";
  if (value === true) return "yes";
  return Array.isArray(value) ? value.join(", ") : String(value);
}

/** The members of an answer's JSON line, verdict first. */
function answerCard({ text, item, finding }: AnsweredItem): object {
  const { status, verdict, kind, missing, error, item: _, ...requests } = ownFacts(item, finding);
  const own = {
    // `none` must not read as safe.
    verdict: verdict === "none" ? "none (nothing known)" : (verdict ?? "unknown"),
    status,
    ...(finding.missing.length > 0 && { missing }),
    ...(error !== null && { error }),
    kind,
  };
  // Our members come first, and replace those of the service with the same names.
  return { ...own, ...exactResult(finding), ...own, item: item?.value ?? text, ...requests };
}
