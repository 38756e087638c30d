import type { ObservedActivity, QueryResult } from "../../api/schema/query-result.js";
import type { RepShareCase } from "../../api/schema/operations.js";
import { invalid, type Placed } from "./placed.js";

/** First and last sighting; null if unknown. */
interface SeenSpan {
  readonly firstSeen: string | null;
  readonly lastSeen: string | null;
}

/**
 * Checks that the times in a result are consistent: `firstSeen` is not after `lastSeen`,
 * observations lie within their interactions, and interactions within the result.
 *
 * @throws UsageError `dataset_invalid`, naming the first time that contradicts another
 */
export function checkTimes(record: Placed, result: QueryResult): void {
  if (!("firstSeen" in result)) return;
  checkSpan(record, "result", result as SeenSpan, null);
  const activity = result.observedActivity as ObservedActivity | null;
  if (activity === null) return;
  for (const name of ["honeypotInteractions", "spamtrapInteractions"] as const) {
    const path = `result.observedActivity.${name}`;
    const interactions = activity[name];
    checkSpan(record, path, interactions, { path: "result", span: result as SeenSpan });
    for (const [index, observation] of interactions.observations.entries()) {
      const outer = { path, span: interactions };
      checkSpan(record, `${path}.observations.${index}`, observation, outer);
    }
  }
}

/**
 * Checks that a case's first event is not after its last one.
 *
 * @throws UsageError `dataset_invalid`
 */
export function checkCaseTimes(record: Placed, entry: RepShareCase): void {
  const { first_event_date: first = null, last_event_date: last = null } = entry;
  if (!isAfter(first, last)) return;
  throw invalid(record, `first_event_date ${first} is after last_event_date ${last}`);
}

function checkSpan(
  record: Placed,
  path: string,
  { firstSeen, lastSeen }: SeenSpan,
  outer: { readonly path: string; readonly span: SeenSpan } | null,
): void {
  const around = outer?.span ?? { firstSeen: null, lastSeen: null };
  const fault = isAfter(firstSeen, lastSeen)
    ? `firstSeen ${firstSeen} is after lastSeen ${lastSeen}`
    : isAfter(around.firstSeen, firstSeen)
      ? `firstSeen ${firstSeen} is before firstSeen of ${outer?.path}, ${around.firstSeen}`
      : isAfter(lastSeen, around.lastSeen)
        ? `lastSeen ${lastSeen} is after lastSeen of ${outer?.path}, ${around.lastSeen}`
        : null;
  if (fault !== null) throw invalid(record, `${path}: ${fault}`);
}

/** False if either time is unknown. */
function isAfter(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && Date.parse(one) > Date.parse(other);
}
