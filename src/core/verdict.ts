import {
  type EndpointSpec,
  listedAs,
  mailBlocklist,
  type Result,
  blocklistStatuses,
  intents,
} from "./endpoints/endpoint.js";
import { endpoints } from "./endpoints/endpoints.js";
import {
  type Accusation,
  type Finding,
  type LookupEndpoint,
  lookupEndpoints,
  type Verdict,
} from "./finding.js";

/** The members of an answer that can speak against an item, under their specified names. */
export const decisiveMembers = ["intent", "serviceMailBlocklist"] as const;

type DecisiveMember = (typeof decisiveMembers)[number];

/** How each is read, and the words that the interface documents. */
const decisive: Readonly<Record<DecisiveMember, DecisiveWords>> = {
  intent: { read: (result) => result?.["intent"], words: new Set(intents) },
  serviceMailBlocklist: { read: listedAs, words: new Set(blocklistStatuses) },
};

interface DecisiveWords {
  readonly read: (result: Result | undefined) => unknown;
  readonly words: ReadonlySet<unknown>;
}

/**
 * Whether a value is there that the interface doesn't document, such as `MALICIOUS` or `critical`. It
 * accuses nobody, and keeps the verdict from being `none`.
 */
export function isOtherWord(member: DecisiveMember, value: unknown): boolean {
  return (value ?? null) !== null && !decisive[member].words.has(value);
}

export function hasOtherWord({ answers }: Finding): boolean {
  return judges.some(({ name }) =>
    decisiveMembers.some((member) =>
      isOtherWord(member, decisive[member].read(answers[name]?.result)),
    ),
  );
}

const specs: Readonly<Record<LookupEndpoint, EndpointSpec>> = endpoints;

/** Endpoints that decide on the verdict. */
const judges = lookupEndpoints.flatMap((name) => {
  const { clears, columns } = specs[name];
  return clears === null ? [] : [{ name, clears, columns }];
});

/** The columns of each member that can speak against an item, one for each endpoint that has it. */
export const decisiveColumns: Readonly<Record<DecisiveMember, readonly string[]>> = {
  intent: columnsOf("intent"),
  serviceMailBlocklist: columnsOf("serviceMailBlocklist"),
};

function columnsOf(member: DecisiveMember): readonly string[] {
  const columns = judges.flatMap((judge) => judge.columns);
  return columns.filter(({ path }) => path[0] === member).map(({ name }) => name);
}

/**
 * The gravest verdict of the answers; null if it is unknown. One answer is enough to accuse an item, but
 * `none` needs all of them: what is missing could speak against it.
 *
 * `none` never means safe: `intent: none` and `NOT_LISTED` say that nothing is known, `unknown` says
 * that something was seen but its intent isn't known, and `ALLOWLIST` is about mail only. `PASSIVE`
 * and `INFORMATIONAL` listings accuse nobody. Nobody knows whether an undocumented word is an accusation.
 */
export function verdictOf(finding: Finding): Verdict | null {
  const { status, answers, missing } = finding;
  let isAnswered = false;
  let isSuspicious = false;
  let isListed = false;
  let isCleared = false;
  for (const { name, clears } of judges) {
    const result = answers[name]?.result;
    if (result === undefined) continue;
    isAnswered = true;
    const intent = result["intent"];
    if (intent === "malicious") return "malicious";
    isSuspicious ||= intent === "suspicious";
    isListed ||= mailBlocklist(result) === "ACTIVE";
    isCleared ||= status === "complete" && clears(result);
  }
  if (!isAnswered) return null;
  if (isSuspicious) return "suspicious";
  if (isListed) return "listed";
  if (hasOtherWord(finding)) return null;
  if (status !== "partial") return isCleared ? "none" : null;
  // A partial answer is enough if another one has what it lacks.
  const isOpen = decisiveMembers.some(
    (member) =>
      missing.includes(member) &&
      judges.every(({ name }) => (decisive[member].read(answers[name]?.result) ?? null) === null),
  );
  return isOpen ? null : "none";
}

export function accusationIn(verdict: Verdict | null): Accusation | null {
  return verdict === "none" ? null : verdict;
}
