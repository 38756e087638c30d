import {
  type FindingStatus,
  findingStatuses,
  type LookupEndpoint,
  unasked,
} from "../../../core/finding.js";
import { hasOtherWord } from "../../../core/verdict.js";
import { recogniseItem } from "../../../core/item/recognise.js";
import { inOrder } from "../../../client/lookup/in-order.js";
import { openRequests } from "../../../client/lookup/options.js";
import type { Lookup } from "../../../client/lookup/types.js";
import { countedWarning, otherWords } from "../../../jobs/enrich/counted-warning.js";
import type { FailOn } from "../../../jobs/enrich/failure-limits.js";
import { MemoryStore } from "../../../client/store/store.js";
import { type AnswerColumns, type AnsweredItem, printAnswers } from "./print-answers.js";
import type { CommandCall } from "../../command.js";
import { exitCodeOfRun, exitCodes } from "../../exit-code.js";
import type { OutputCall } from "../../terminal/data-output.js";
import type { Session } from "../../../client/session/session.js";
import type { SessionSettings } from "../../../client/session/types.js";
import { type ServiceChoice, withServices, withSession } from "../../services/services.js";
import { createInterface } from "node:readline";
import { UsageError } from "../../../core/errors.js";
import type { CliContext } from "../../terminal/cli-context.js";

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
export function oneOffItems(
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
