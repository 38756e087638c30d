import { type AbortGroups, raceAbort } from "../core/abort.js";
import type {
  PartialResult,
  QueryResult,
  QuickCheckResult,
} from "../client/api/schema/query-result.js";
import type { FindingSource } from "../core/finding-source.js";
import {
  type FindingError,
  hasOtherWord,
  unasked,
  type Verdict,
  verdictOf,
} from "../core/finding.js";
import { unsupported } from "../core/item/detect.js";
import type { ItemKind } from "../core/item/item.js";
import { recogniseItem } from "../core/item/recognise.js";
import type { Lookup } from "../client/lookup/types.js";

/** Members of every result. */
interface AnyResult {
  /** The text as given. */
  readonly input: string;
  /** Where the answer came from: the service, a cache, an earlier lookup, or repute itself. */
  readonly source: FindingSource;
  /** HTTP status of the deciding answer, or null without one. */
  readonly httpStatus: number | null;
  /** Requests it took. */
  readonly attempts: number;
  /** When the answer came, RFC 3339 in UTC; null if nothing was asked. */
  readonly lookedUpAt: string | null;
}

/** An item that was recognised. */
interface ItemResult extends AnyResult {
  /** The item in its normal form, such as `1.2.3.4` for `1.2.3[.]4`: what was asked. */
  readonly item: string;
  readonly kind: ItemKind;
  /** Result of the quick check; null if it wasn't asked or gave no answer. */
  readonly quickCheck: QuickCheckResult | null;
}

/** Every requested lookup was answered in full. */
export interface CompleteResult extends ItemResult {
  readonly status: "complete";
  /** Null for an intent or mail blocklist status that the interface doesn't document. */
  readonly verdict: Verdict | null;
  /**
   * Result of the query, told apart by `type`; null if it wasn't asked. The interface is in beta: an
   * enumeration, `type` included, may have values that it doesn't document.
   */
  readonly query: QueryResult | null;
  readonly missing: readonly [];
  readonly error: null;
}

/** Part of the data was unavailable, and still was after the allowed re-asks. */
export interface IncompleteResult extends ItemResult {
  readonly status: "partial";
  /** Null if what is missing could speak against the item. */
  readonly verdict: Verdict | null;
  readonly query: PartialResult | QueryResult | null;
  /** Members of `query` that are null because they were unavailable. */
  readonly missing: readonly string[];
  readonly error: null;
}

/**
 * `invalid`: the service rejected the item (400). `failed`: no usable answer. If only one of query and
 * quick check is at fault, the other one's result is there.
 */
export interface FailedResult extends ItemResult {
  readonly status: "invalid" | "failed";
  /** Null unless the other lookup's answer speaks against the item. */
  readonly verdict: Verdict | null;
  readonly query: PartialResult | QueryResult | null;
  readonly missing: readonly string[];
  readonly error: FindingError;
}

/** The text is no item of a kind that the interface has; nothing was sent. */
export interface UnsupportedResult extends AnyResult {
  readonly status: "unsupported";
  readonly item: null;
  readonly kind: null;
  readonly verdict: null;
  readonly query: null;
  readonly quickCheck: null;
  readonly missing: readonly [];
  readonly error: FindingError;
}

/** The outcome of one lookup, told apart by `status`. Failure is data, not an exception. */
export type LookupResult = CompleteResult | IncompleteResult | FailedResult | UnsupportedResult;

/** Options of one lookup or one stream of lookups. */
export interface LookupCall {
  /** Read the text as this kind first, before detection. Default: detected. */
  readonly kind?: ItemKind | undefined;
  /** Aborting it rejects with the signal's reason and cancels open requests. */
  readonly signal?: AbortSignal | undefined;
}

/** Recognises one text and looks it up. JavaScript callers may give something other than text. */
export async function lookUp(
  lookup: Lookup,
  input: unknown,
  {
    kind = null,
    signal,
    aborts,
    onOtherWord,
  }: {
    readonly kind: ItemKind | null | undefined;
    readonly signal: AbortSignal;
    /** Those of the client. */
    readonly aborts: AbortGroups;
    /** Called for an answer with an undocumented intent or mail blocklist status. */
    readonly onOtherWord: () => void;
  },
): Promise<LookupResult> {
  const { item, reason } =
    typeof input === "string" ? recogniseItem(input, kind) : unsupported("not_text");
  const finding =
    item === null
      ? unasked("unsupported", reason)
      : await raceAbort(lookup(item, { signal }), signal, undefined, aborts);
  if (hasOtherWord(finding)) onOtherWord();
  const { status, answers, missing, source, httpStatus, attempts, lookedUpAt, error } = finding;
  return {
    input,
    item: item?.value ?? null,
    kind: item?.kind ?? null,
    status,
    verdict: verdictOf(finding),
    query: answers.query?.result ?? null,
    quickCheck: answers["quick-check"]?.result ?? null,
    missing,
    source,
    httpStatus,
    attempts,
    lookedUpAt,
    error,
  } as LookupResult;
}
