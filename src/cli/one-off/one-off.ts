import { z } from "zod";
import { apiOptions } from "../../api/options.js";
import { option } from "../../core/options.js";
import { findingStatuses, unasked } from "../../core/finding.js";
import type { FindingStatus, LookupEndpoint } from "../../core/finding.js";
import type { Recognition } from "../../core/item/item.js";
import { lookupOptions } from "../../lookup/options.js";
import type { Lookup } from "../../lookup/types.js";
import { runOptions } from "../../pipeline/options.js";
import { answerOutput } from "./answered-item.js";
import type { AnswerColumns } from "./answered-item.js";
import type { AnsweredItem } from "./answered-item.js";
import { cliOptions } from "../options/cli-options.js";
import type { Command, CommandCall } from "../command.js";
import {
  commonExitCodes,
  exitCodeOfRun,
  interruptedExitCodes,
  quotaExitCodes,
} from "../exit-code.js";
import { inOrder } from "./in-order.js";
import { oneOffItems } from "./one-off-items.js";
import { openPace } from "../services/pace.js";
import { withServices } from "../services/services.js";

const { concurrency, rate, retries, partialRetries } = lookupOptions.shape;

/** Options of a quick check by hand. */
export const quickCheckOptions = z.strictObject({
  ...apiOptions.shape,
  concurrency,
  rate,
  retries,
  failOn: runOptions.shape.failOn,
  local: cliOptions.shape.local,
  json: option(cliOptions.shape.json, { description: "JSON lines on a terminal too" }),
  config: cliOptions.shape.config,
});

/** Options of a query by hand. */
export const queryOptions = z.strictObject({ ...quickCheckOptions.shape, partialRetries });

/** What the help says of both. */
export const oneOffHelp = {
  usage: "ITEM... [flags]",
  operands: [
    [
      "ITEM",
      "IP address, domain, URL, SHA1, wallet or e-mail address, defanged or not; - reads one a line from stdin",
    ],
  ],
  exitCodes: [
    ...commonExitCodes,
    ["3", "done, but lookups failed (with --fail-on also partial or invalid ones, or none)"],
    ...quotaExitCodes,
    ...interruptedExitCodes,
  ],
} as const satisfies Partial<Command>;

export interface OneOff {
  readonly endpoint: LookupEndpoint;
  /** Columns of the table on a terminal. */
  readonly columns: AnswerColumns;
}

type Settings = z.output<typeof quickCheckOptions> & { readonly partialRetries?: number };

/** Looks the items up and prints them in the order given. Resolves to the exit code. */
export async function runOneOff(call: CommandCall<Settings>, oneOff: OneOff): Promise<number> {
  const { context, settings } = call;
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  const items = oneOffItems(call.operands, context, signal);
  const output = answerOutput(call, oneOff.columns);
  const counts = Object.fromEntries(findingStatuses.map((status) => [status, 0])) as Record<
    FindingStatus,
    number
  >;
  await withServices(["intel"], call, async ({ intel }) => {
    const [{ openOneOffLookup }, { recogniseItem }] = await Promise.all([
      import("./one-off-lookup.js"),
      import("../../core/item/recognise.js"),
    ]);
    const pace = await openPace(intel, call, (error) => stop.abort(error));
    const service = openOneOffLookup({
      ...settings,
      intelUrl: intel.url,
      lookups: [oneOff.endpoint],
      pace,
      partialRetries: settings.partialRetries ?? 0,
      apiKey: intel.credential,
      clock: context.clock,
      requests: context.signal,
    });
    try {
      const work = answerWith(recogniseItem, service.lookup, signal, stop);
      await inOrder(items, settings.concurrency * 2, work, (answer) => {
        counts[answer.finding.status]++;
        return output.add(answer);
      });
      for (const message of service.warnings()) context.reporter.warning(message);
    } finally {
      await pace.giveBack();
      await service.close();
    }
  });
  await output.end();
  return exitCodeOfRun(settings.failOn, counts);
}

function answerWith(
  recognise: (text: string) => Recognition,
  lookup: Lookup,
  signal: AbortSignal,
  stop: AbortController,
): (text: string) => Promise<AnsweredItem> {
  return async (text) => {
    const { item, reason } = recognise(text);
    if (item === null) return { text, item, finding: unasked("unsupported", reason) };
    try {
      return { text, item, finding: await lookup(item, { signal }) };
    } catch (error) {
      stop.abort(error);
      throw error;
    }
  };
}
