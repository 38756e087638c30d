import { apiOptions } from "../../api/options.js";
import { isQuota, option, type Rate } from "../../core/options.js";
import { userStateFolder } from "../../core/files/make-folder.js";
import { lookupOptions, paceOf } from "../../lookup/options.js";
import type { Plan } from "../../pipeline/plan/plan.js";
import type { Spent } from "../../pipeline/plan/plan-time.js";
import type { PlannedCache } from "../../pipeline/plan/planned-items.js";
import { sourceOptions } from "../../inputs/open-input.js";
import { embeddedServiceName } from "../../pipeline/options.js";
import { chooseAddress } from "../services/services.js";
import { cliOptions } from "../options/option-spec.js";
import { type CommandCall, defineCommand, type SettingsOf } from "../command.js";
import { enrichInput } from "../run/enrich-job.js";
import { commonExitCodes, interruptedExitCodes } from "../exit-code.js";

const { lookups, bogons, cacheTtl, rate } = lookupOptions.shape;

const groups = {
  Input: sourceOptions.shape,
  Lookups: {
    lookups,
    bogons,
    cache: option(lookupOptions.shape.cache, {
      description:
        "Folder that a run would be given with --cache: what is fresh there is not asked for. Needs the service's address",
      value: "DIR",
    }),
    cacheTtl,
    rate,
    intelUrl: option(apiOptions.shape.intelUrl, {
      description:
        "Address of the service whose cached answers and spent quotas count; nothing is sent to it",
      value: "URL",
    }),
    local: option(cliOptions.shape.local, {
      description: "Plan for the embedded service, which has no customary rate",
    }),
    synthetic: cliOptions.shape.synthetic,
  },
  Run: {
    json: option(cliOptions.shape.json, { description: "The plan as one JSON object" }),
    config: cliOptions.shape.config,
    profile: cliOptions.shape.profile,
  },
};

type PlanSettings = SettingsOf<typeof groups>;

/** What a run of `enrich` over the same input would take; nothing is asked. */
export const planCommand = defineCommand({
  name: "plan",
  usage: "[input] [flags]",
  summary: "read a file as enrich does, ask nothing, and tell how many requests and how long",
  description: [
    "Reads the input as enrich does and tells what is in it: rows, kinds of item, what is not supported and why, how many items are distinct; how many requests each choice of --lookups makes when nothing fails, and how long they take at the given rates. With --cache it leaves out what a run with that cache would not ask. No request is made.",
  ],
  operands: [["input", "file to read, or - for stdin [default -]; gzip is recognised"]],
  groups,
  examples: {
    "repute plan dump.csv --rate 50/s --rate 10000/d":
      "tells how many requests the file takes and when the day's quota would end",
    "repute plan hits.ndjson.gz --item-column source.ip --lookups triage":
      "tells how many quick checks are made, and how many queries at the most",
    "zcat feed.tsv.gz | repute plan --from tsv --no-header":
      "reads from a pipe; the same flags of reading as those of enrich",
    "repute plan dump.csv --cache ~/.cache/repute":
      "tells what is left to ask; the service's address is in REPUTE_INTEL_URL",
    "repute plan dump.csv --bogons local --json":
      "the same as JSON, with addresses in reserved ranges answered without a request",
  },
  exitCodes: [...commonExitCodes, ...interruptedExitCodes],
  run: runPlan,
});

async function runPlan(call: CommandCall<PlanSettings>): Promise<number> {
  const { settings, operands, context } = call;
  // Refused here as by enrich, though nothing is asked.
  if (settings.local && settings.intelUrl !== undefined) {
    chooseAddress("intel", settings, call.given);
  }
  const { plan } = await import("../../pipeline/plan/plan.js");
  const rates = paceOf(settings.rate, settings.local);
  const cache = await openPlannedCache(call);
  let planned: Plan;
  try {
    planned = await plan({
      input: enrichInput(operands, context),
      settings,
      rates,
      spent: await spentSoFar(call, rates),
      cache,
      signal: context.signal,
      onNotice: (message) => context.reporter.print(`repute: ${message}`),
    });
  } finally {
    await cache?.store.close();
  }
  if (settings.json) context.stdout.write(`${JSON.stringify(planned)}\n`);
  else {
    const { formatPlan } = await import("../terminal/plan-text.js");
    context.stdout.write(formatPlan(planned));
  }
  return 0;
}

/** What is counted against quotas of the service, where its address is known. */
async function spentSoFar(
  { settings, given, context }: CommandCall<PlanSettings>,
  rates: readonly Rate[],
): Promise<Spent | undefined> {
  const stateFolder = userStateFolder(context.env);
  if (settings.intelUrl === undefined || stateFolder === null || !rates.some(isQuota)) {
    return undefined;
  }
  const service = chooseAddress("intel", settings, given);
  if (service === null) return undefined;
  const [{ readSpent }, { quotaOfAll }] = await Promise.all([
    import("../../store/quota/open-quotas.js"),
    import("../../pipeline/lookup/open-connections.js"),
  ]);
  const onWarning = (message: string): void => context.reporter.warning(message);
  const spentOf = readSpent({ service, stateFolder, onWarning });
  return (rate) => spentOf(quotaOfAll, rate, context.clock.now());
}

/** The cache that a run would use, to be looked at only; null without one. */
async function openPlannedCache({
  settings,
  given,
  context,
}: CommandCall<PlanSettings>): Promise<PlannedCache | null> {
  if (settings.cache === undefined) return null;
  const address =
    chooseAddress("intel", settings, given) ?? embeddedServiceName(settings.synthetic);
  const { openCache } = await import("../../store/cache/finding-cache.js");
  const store = await openCache({
    folder: settings.cache,
    ttlMs: settings.cacheTtl,
    clock: context.clock,
    readOnly: true,
    onWarning: (message) => context.reporter.warning(message),
  });
  return { address, store };
}
