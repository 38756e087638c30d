import { lookupEndpoints, memberOf } from "../../core/finding.js";
import type { Plan } from "../../jobs/plan/plan.js";
import type { PlannedRequests } from "../../jobs/enrich/planned-items.js";
import { counted, formatCount, formatCounts, formatSeconds } from "../../core/text/quantity.js";
import { labelled } from "../../core/text/wrap.js";

/** Maximum number of reasons to list; `--json` has all. */
const mostReasons = 8;

const bogonText = {
  ask: "asked like any other address (--bogons ask)",
  local: "answered without a request by --bogons local",
};

type PlanLine = readonly [label: string, text: string];

/**
 * A plan as text, one fact per line, wrapped to `room` columns.
 * @param bogons what the run does with reserved addresses
 */
export function formatPlan(
  plan: Plan,
  bogons: "ask" | "local",
  room = Number.POSITIVE_INFINITY,
): string {
  const { chosen } = plan;
  const lines: readonly PlanLine[] = [
    ["rows", formatCount(plan.rows)],
    ["kinds", formatCounts(plan.kinds, mostReasons)],
    ["unsupported", formatCounts(plan.unsupported, mostReasons)],
    ["not sent", formatCounts(plan.excluded, mostReasons)],
    ["elsewhere", formatCounts(plan.elsewhere ?? {}, mostReasons)],
    ["unreadable", plan.unreadable === 0 ? "" : formatCount(plan.unreadable)],
    [
      "items",
      `${formatCount(plan.distinct_items)} distinct, ${formatCount(plan.duplicate_rows)} duplicate rows`,
    ],
    ["already cached", cachedText(plan.cached)],
    [
      "bogons",
      plan.bogons === 0 ? "" : `${formatCount(plan.bogons)} distinct, ${bogonText[bogons]}`,
    ],
    ...Object.entries(plan.requests).map(
      ([lookups, requests]) => [`requests ${lookups}`, requestText(requests)] as const,
    ),
    [
      "time",
      chosen.seconds === null
        ? `${counted(chosen.requests, "request")}, no rate given`
        : `${formatSeconds(chosen.seconds)} for ${isAtMost(plan) ? "at most " : ""}${counted(chosen.requests, "request")} (--lookups ${chosen.lookups})`,
    ],
    ...quotaLines(chosen),
    ...Object.entries(plan.warnings).map(
      ([message, times]) => ["warning", `${message} (${formatCount(times)})`] as const,
    ),
  ];
  const filled = lines.map(([label, text]) => [label, text === "" ? [] : [text]] as const);
  return `${labelled(filled, room)}\n`;
}

function quotaLines({ quotas, quota_ends: ends, nights }: Plan["chosen"]): readonly PlanLine[] {
  return [
    ...quotas
      .filter(({ spent }) => spent > 0)
      .map(({ count, per_seconds: seconds, spent }): PlanLine => [
        "quota",
        `${formatCount(spent)} of ${formatCount(count)} in ${formatSeconds(seconds)} already used`,
      ]),
    ...ends.map((end): PlanLine => [
      "quota",
      `${formatCount(end.count)} in ${formatSeconds(end.per_seconds)} used up after ${formatSeconds(end.used_up_after_seconds)}, with ${counted(end.left, "request")} left`,
    ]),
    ...(nights > 1
      ? [["nights", `${formatCount(nights)}, with one run a night and --resume`] as const]
      : []),
  ];
}

function requestText(requests: PlannedRequests): string {
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
  return [...counts, ...ranges].join(", ") || "none";
}

/** Whether the number of requests is only known as a range. */
function isAtMost({ chosen, requests }: Plan): boolean {
  const counts = Object.values(requests[chosen.lookups] ?? {});
  return counts.some((n) => typeof n !== "number" && n.least < n.most);
}

function cachedText(cached: Plan["cached"]): string {
  const counts = lookupEndpoints.map((name) => [name, cached[memberOf(name)] ?? 0] as const);
  if (counts.every(([, n]) => n === 0)) return "";
  return counts.map(([name, n]) => `${name} ${formatCount(n)}`).join(", ");
}
