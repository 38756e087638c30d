import { lookupEndpoints, memberOf } from "../../core/finding.js";
import type { Expiring } from "../../pipeline/plan/expiry-times.js";
import type { Plan } from "../../pipeline/plan/plan.js";
import type { PlannedRequests } from "../../pipeline/plan/planned-items.js";
import type { PlannedPart } from "../../pipeline/plan/planned-order.js";
import {
  counted,
  formatCount,
  formatCounts,
  formatSeconds,
  wrapText,
} from "../../core/quantity.js";

/** Maximum number of reasons to list; `--json` has all. */
const mostReasons = 8;

type PlanLine = readonly [label: string, text: string];

/** A plan as text, one fact per line, wrapped to `room` columns. */
export function formatPlan(plan: Plan, room = Number.POSITIVE_INFINITY): string {
  const { chosen } = plan;
  const lines: readonly PlanLine[] = [
    ["rows", formatCount(plan.rows)],
    [
      "skipped",
      plan.skipped === 0 ? "" : `${formatCount(plan.skipped)}, whose items the table has`,
    ],
    ["kinds", formatCounts(plan.kinds, mostReasons)],
    ["unsupported", formatCounts(plan.unsupported, mostReasons)],
    ["unreadable", plan.unreadable === 0 ? "" : formatCount(plan.unreadable)],
    [
      "items",
      `${formatCount(plan.distinct_items)} distinct, ${formatCount(plan.duplicate_rows)} duplicate rows`,
    ],
    ["already cached", cachedText(plan.cached)],
    ["expired", cachedText(plan.expired)],
    ["expiring", plan.expiring.map(expiringText).join(", ")],
    [
      "bogons",
      plan.bogons === 0
        ? ""
        : `${formatCount(plan.bogons)} distinct, answered without a request by --bogons local`,
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
    [
      "meanwhile",
      chosen.expiring_meanwhile === 0
        ? ""
        : `${counted(chosen.expiring_meanwhile, "fresh answer")} may expire before the run is over, to be asked for again`,
    ],
    ...quotaLines(chosen),
    ...orderLines(chosen),
    ...Object.entries(plan.warnings).map(
      ([message, times]) => ["warning", `${message} (${formatCount(times)})`] as const,
    ),
  ];
  const shown = lines.filter(([, text]) => text !== "");
  const width = Math.max(...shown.map(([label]) => label.length)) + 2;
  const isNarrow = room < 2 * width;
  const indent = " ".repeat(isNarrow ? 2 : width);
  return shown
    .map(([label, text]) => {
      const lines = wrapText(text, room - indent.length).replaceAll("\n", `\n${indent}`);
      return `${isNarrow ? `${label}\n${indent}` : label.padEnd(width)}${lines}\n`;
    })
    .join("");
}

function quotaLines({ quotas, quota_ends: ends }: Plan["chosen"]): readonly PlanLine[] {
  return [
    ...quotas
      .filter(({ spent }) => spent > 0)
      .map(({ count, per_seconds: seconds, spent, endpoint }): PlanLine => [
        label("quota", endpoint),
        `${formatCount(spent)} of ${formatCount(count)} in ${formatSeconds(seconds)} already used`,
      ]),
    ...ends.map((end): PlanLine => [
      label("quota", end.endpoint),
      `${formatCount(end.count)} in ${formatSeconds(end.per_seconds)} used up after ${formatSeconds(end.used_up_after_seconds)}, with ${counted(end.left, "request")} left`,
    ]),
  ];
}

function label(name: string, endpoint: string | undefined): string {
  return endpoint === undefined ? name : `${name} ${endpoint}`;
}

const limitNames = { max_requests: "--max-requests", deadline: "--deadline", quota: "a quota" };

const partTexts: Readonly<Record<PlannedPart["part"], string>> = {
  expired_with_verdict: "expired with a verdict",
  expired: "other expired",
  rest: "everything else",
  all: "",
};

/** What the requests are for, and how much of it the strictest limit allows. */
function orderLines({ limits, order, requests }: Plan["chosen"]): readonly PlanLine[] {
  const [limit] = limits;
  const isLimited = limit !== undefined && limit.requests < requests;
  if (!isLimited && order[0]?.part === "all") return [];
  const lines: PlanLine[] = isLimited
    ? [["limit", `${limitNames[limit.by]} allows ${counted(limit.requests, "request")}`]]
    : [];
  for (const part of order) {
    if (part.items > 0) lines.push(["order", partText(part, isLimited)]);
  }
  return lines;
}

function partText(part: PlannedPart, isLimited: boolean): string {
  const { items, requests, covered_items: covered, covered_until: until, newest } = part;
  const name = partTexts[part.part];
  const what = `${name === "" ? "" : `${name}: `}${counted(items, "item")}, ${counted(requests, "request")}`;
  if (!isLimited) return what;
  if (covered === items) return `${what}, all covered`;
  if (covered === 0) return `${what}, not covered`;
  const age = until === null || newest === until ? "" : `, those answered until ${until}`;
  return `${what}, of which the first ${formatCount(covered)} ${covered === 1 ? "is" : "are"} covered${age}`;
}

function expiringText({ after_seconds: after, until_seconds: until, answers }: Expiring): string {
  const when =
    until === null
      ? `after ${shortTime(after)}`
      : after === 0
        ? `within ${shortTime(until)}`
        : `in ${shortTime(after)} to ${shortTime(until)}`;
  return `${formatCount(answers)} ${when}`;
}

function shortTime(seconds: number): string {
  return seconds > 86_400 ? `${seconds / 86_400} d` : `${seconds / 3600} h`;
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
