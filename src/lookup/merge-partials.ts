import type { Finding, JsonObject } from "../core/finding.js";

/**
 * Makes one finding of the partial answers to one lookup: the most complete one, the latest of
 * several, with the members that it lacks filled from the others, the latest first. `missing` is
 * what none of them had.
 *
 * It stays `partial` even when nothing is missing any more: no answer vouched for the whole.
 *
 * @param partials in the order in which they came
 */
export function mergePartials(partials: readonly [Finding, ...Finding[]]): Finding {
  if (partials.length === 1) return partials[0];
  const latestFirst = partials.toReversed();
  const best = latestFirst.reduce((a, b) => (b.missing.length < a.missing.length ? b : a));
  const others = latestFirst.filter((each) => each !== best);
  const filled = { ...resultOf(best) };
  const missing = best.missing.filter((member) => {
    const other = others.find((each) => answers(each, member, filled["type"]));
    if (other === undefined) return true;
    for (const name of namesOf(member)) filled[name] = resultOf(other)[name] ?? filled[name];
    return false;
  });
  return best.query === null
    ? { ...best, quickCheck: filled, missing }
    : { ...best, query: filled, missing };
}

/** Answers of another type describe another thing; none of their members fits. */
function answers(finding: Finding, member: string, type: unknown): boolean {
  return !finding.missing.includes(member) && resultOf(finding)["type"] === type;
}

function resultOf(finding: Finding): JsonObject {
  return finding.query ?? finding.quickCheck ?? {};
}

/** The names under which a service may send a member. */
function namesOf(member: string): readonly string[] {
  return member === "serviceMailBlocklist" ? [member, "abusixMailBlocklist"] : [member];
}
