import {
  type Finding,
  firstAnswer,
  type JsonObject,
  type LookupAnswer,
  lookupEndpoints,
} from "../../core/finding.js";
import { memberTexts } from "../../core/json-members.js";

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
  const sources = new Map<string, Finding>();
  const missing = best.missing.filter((member) => {
    const other = others.find((each) => answers(each, member, filled["type"]));
    if (other === undefined) return true;
    for (const name of namesOf(member)) {
      const value = resultOf(other)[name] ?? null;
      if (value === null) continue;
      filled[name] = value;
      sources.set(name, other);
    }
    return false;
  });
  const endpoint = lookupEndpoints.find((name) => best.answers[name] !== undefined);
  if (endpoint === undefined) return best;
  const answer: LookupAnswer = {
    ...best.answers[endpoint],
    result: filled,
    text: textWith(best, sources),
  };
  return { ...best, missing, answers: { [endpoint]: answer } };
}

/** Answers of another type describe another thing; none of their members fits. */
function answers(finding: Finding, member: string, type: unknown): boolean {
  return !finding.missing.includes(member) && resultOf(finding)["type"] === type;
}

function resultOf(finding: Finding): JsonObject {
  return firstAnswer(finding)?.result ?? {};
}

function textOf(finding: Finding): string | undefined {
  return firstAnswer(finding)?.text;
}

/** The text of a result in which some members have the text that other results have for them. */
function textWith(best: Finding, sources: ReadonlyMap<string, Finding>): string | undefined {
  const text = textOf(best);
  if (text === undefined || sources.size === 0) return text;
  const members = memberTexts(text);
  for (const [name, source] of sources) {
    members.set(name, memberTexts(textOf(source) ?? "{}").get(name) ?? "null");
  }
  return `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;
}

/** The names under which a service may send a member. */
function namesOf(member: string): readonly string[] {
  return member === "serviceMailBlocklist" ? [member, "abusixMailBlocklist"] : [member];
}
