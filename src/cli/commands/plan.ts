import { apiOptions } from "../../client/api/options.js";
import { isQuota, type Rate } from "../../core/options.js";
import { lookupOptions, paceOf } from "../../client/lookup/options.js";
import type { Plan } from "../../jobs/plan/plan.js";
import { sourceOptions } from "../../io/formats/source-options.js";
import { sinkOptions } from "../../io/output/options.js";
import { runOptions } from "../../jobs/enrich/options.js";
import { chooseAddress, lookupGroups } from "../sessions.js";
import { cliOptions } from "../options/cli-options.js";
import { type CommandCall, defineCommand, type SettingsOf } from "../command.js";
import { enrichInput, inputOperand } from "./runs/enrich-job.js";
import { userStateFolder } from "../../core/files/folders.js";
import { lookupEndpoints, memberOf } from "../../core/finding.js";
import { counted, formatCount, formatCounts, formatSeconds } from "../../core/wording/quantity.js";
import { widthOf, writeOut } from "../terminal/data-output.js";
import { labelled } from "../../core/wording/printable.js";

const { lookups, rate } = lookupOptions.shape;
const { local, synthetic, json } = cliOptions.shape;

const groups = {
  Input: sourceOptions.shape,
  Output: { prefix: sinkOptions.shape.prefix },
  Lookups: { lookups, ...lookupGroups.Lookups },
  Pace: { rate },
  Service: { intelUrl: apiOptions.shape.intelUrl, local, synthetic },
  Run: { limit: runOptions.shape.limit, json },
};

type PlanCall = CommandCall<SettingsOf<typeof groups>>;

export const planCommand = defineCommand({
  name: "plan",
  usage: "[input...] [flags]",
  summary: "predict the requests and duration of a run; sends nothing",
  description: [
    "Reads the input like enrich and prints the number of rows, kinds, unique items and unsupported items with the reason; the number of requests for each choice of --lookups if nothing fails; and the duration at the given rates. With --cache, lookups with a fresh answer need no request; the plan shows how many there are. With a quota, the plan shows how many nights the run takes. No request is sent.",
  ],
  ...inputOperand,
  groups,
  examples: {
    "repute plan dump.csv --rate 50/s --rate 10000/d":
      "count the requests, and the nights they take with the daily quota",
    "repute plan dump.csv --cache ~/.cache/repute":
      "count only what is not cached; REPUTE_INTEL_URL holds the service's address",
  },
  run: async (call) => {
    const { settings, operands, context } = call;
    const { local, intelUrl } = settings;
    // A plan without a service has neither a cache nor used quotas.
    const hasService = local || (intelUrl ?? settings.cache) !== undefined;
    const address = hasService ? chooseAddress("intel", settings, call.given) : null;
    const { plan } = await import("../../jobs/plan/plan.js");
    const { openWithheld } = await import("../../client/lookup/withheld.js");
    const withheld = await openWithheld({
      ...settings,
      bogons: settings.bogons ?? (local ? "ask" : "local"),
    });
    const cache = await openPlannedCache(call, address);
    let planned: Plan;
    try {
      planned = await plan({
        input: await enrichInput(operands, context, settings),
        settings,
        pace: await plannedPace(call, address),
        cache,
        withheld,
        signal: context.signal,
        clock: context.clock,
        ...context.reporter.listener,
      });
    } finally {
      cache?.store.close();
    }
    const text = settings.json
      ? `${JSON.stringify(planned)}\n`
      : formatPlan(planned, withheld.bogons, widthOf(context.stdout));
    await writeOut(context, text);
  },
});

/** The rates, with the used part of quotas if the service's address is known. */
async function plannedPace({ settings, context }: PlanCall, service: string | null) {
  const rates = paceOf(settings, settings.local);
  const { env, clock } = context;
  const stateFolder = userStateFolder(env);
  if (service === null || stateFolder === null || !rates.some(isQuota)) return { rates };
  const { readQuotas } = await import("../../client/store/quotas.js");
  const counts = readQuotas({ service, stateFolder });
  return { rates, spent: (quota: Rate) => counts.use(quota, clock.now()).spent };
}

/** The cache a run would use, opened read-only; null without one. */
async function openPlannedCache({ settings, context }: PlanCall, service: string | null) {
  if (settings.cache === undefined) return null;
  const address =
    service ?? (await import("../../service/service.js")).embeddedServiceName(settings.synthetic);
  const { openCache } = await import("../../client/store/cache.js");
  const store = await openCache({
    folder: settings.cache,
    ttlMs: settings.cacheTtl,
    clock: context.clock,
    readOnly: true,
    onWarning: context.reporter.listener.onWarning,
  });
  return { address, store };
}

/** Maximum number of reasons to list; `--json` has all. */
const maxReasons = 8;

const bogonText = {
  ask: "asked like any other address (--bogons ask)",
  local: "answered without a request by --bogons local",
};

/**
 * A plan as text, one fact per line, wrapped to `width` columns.
 * @param bogons what the run does with reserved addresses
 */
function formatPlan(plan: Plan, bogons: "ask" | "local", width: number): string {
  const { chosen } = plan;
  const requests = Object.entries(plan.requests).map(
    ([lookups, requests]) => [`requests ${lookups}`, requestText(requests)] as const,
  );
  const most = `${hasRange(plan) ? "at most " : ""}${counted(chosen.requests, "request")}`;
  const facts = {
    rows: formatCount(plan.rows),
    kinds: formatCounts(plan.kinds, maxReasons),
    unsupported: formatCounts(plan.unsupported, maxReasons),
    "not sent": formatCounts(plan.excluded, maxReasons),
    elsewhere: formatCounts(plan.elsewhere ?? {}, maxReasons).replace(/.$/, "$& (not looked up)"),
    unreadable: plan.unreadable === 0 ? "" : formatCount(plan.unreadable),
    items: `${formatCount(plan.distinct_items)} distinct, ${counted(plan.duplicate_rows, "duplicate row")}`,
    "already cached": requestText(plan.cached, ""),
    bogons: plan.bogons === 0 ? "" : `${formatCount(plan.bogons)} distinct, ${bogonText[bogons]}`,
    ...Object.fromEntries(requests),
    time:
      chosen.seconds === null
        ? `${counted(chosen.requests, "request")}, no rate given`
        : `${formatSeconds(chosen.seconds)} for ${most} (--lookups ${chosen.lookups})`,
    nights:
      chosen.nights > 1 ? `${formatCount(chosen.nights)}, with one run a night and --resume` : "",
  };
  const warnings = Object.entries(plan.warnings).map(
    ([message, times]) => ["warning", `${message} (${formatCount(times)})`] as const,
  );
  return `${labelled([...Object.entries(facts), ...warnings], width)}\n`;
}

function requestText(
  requests: Plan["cached"] | Plan["requests"][string],
  nothing = "none",
): string {
  const ranges: string[] = [];
  const counts: string[] = [];
  for (const endpoint of lookupEndpoints) {
    const n = requests[memberOf(endpoint)] ?? 0;
    const most = typeof n === "number" ? n : n.most;
    if (typeof n !== "number" && n.least < n.most) {
      const range = `${formatCount(n.least)} to ${formatCount(n.most)}`;
      ranges.push(`${endpoint} ${range}, depending on the quick checks`);
    } else if (most > 0) counts.push(`${endpoint} ${formatCount(most)}`);
  }
  return [...counts, ...ranges].join(", ") || nothing;
}

function hasRange({ chosen, requests }: Plan): boolean {
  const counts = Object.values(requests[chosen.lookups] ?? {});
  return counts.some((n) => typeof n !== "number" && n.least < n.most);
}
