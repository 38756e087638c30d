import type { z } from "zod";
import { camelCase, type CamelCase, type endpoints } from "../core/endpoints/endpoints.js";
import {
  type FindingSource,
  type FindingError,
  type LookupEndpoint,
  lookupEndpoints,
  unasked,
  type Verdict,
} from "../core/finding.js";
import { verdictOf } from "../core/verdict.js";
import { unsupported } from "../core/item/detect.js";
import type { ItemKind } from "../core/item/item.js";
import { recogniseItem } from "../core/item/recognise.js";
import type { Lookup } from "../client/lookup/types.js";

/** Members of every result. */
interface AnyResult {
  /** The text as given. */
  readonly input: string;
  /** HTTP status of the deciding answer, or null without one. */
  readonly httpStatus: number | null;
  /** Requests it took. */
  readonly attempts: number;
  /** When the answer came, RFC 3339 in UTC; null if nothing was asked. */
  readonly lookedUpAt: string | null;
}

type Specs = typeof endpoints;

type Full<Name extends LookupEndpoint> = z.output<Specs[Name]["result"]>;

type Partial<Name extends LookupEndpoint> = Specs[Name]["partial"] extends z.ZodType
  ? z.output<Specs[Name]["partial"]>
  : never;

/**
 * The result of each endpoint, told apart by `type` where it has kinds; null if it wasn't asked or gave
 * no answer. The interface is in beta: an enumeration, `type` included, may have values that it doesn't
 * document.
 */
type FullResults = { readonly [Name in LookupEndpoint as CamelCase<Name>]: Full<Name> | null };

/** The same, where members may be null because they were unavailable. */
type Results = {
  readonly [Name in LookupEndpoint as CamelCase<Name>]: Full<Name> | Partial<Name> | null;
};

type NoResults = { readonly [Name in LookupEndpoint as CamelCase<Name>]: null };

/** An item that was recognised. */
interface ItemResult extends AnyResult {
  /** The item in its normal form, such as `1.2.3.4` for `1.2.3[.]4`: what was asked. */
  readonly item: string;
  readonly kind: ItemKind;
  /** Where the answer came from: the service, a cache, an earlier lookup, or repute itself. */
  readonly source: FindingSource;
}

/** Every requested lookup was answered in full. */
export interface CompleteResult extends ItemResult, FullResults {
  readonly status: "complete";
  /** Null for an intent or mail blocklist status that the interface doesn't document. */
  readonly verdict: Verdict | null;
  readonly missing: readonly [];
  readonly error: null;
}

/** Part of the data was unavailable, and still was after the allowed re-asks. */
export interface IncompleteResult extends ItemResult, Results {
  readonly status: "partial";
  /** Null if what is missing could speak against the item. */
  readonly verdict: Verdict | null;
  /** Members of a result that are null because they were unavailable. */
  readonly missing: readonly string[];
  readonly error: null;
}

/**
 * `invalid`: the service rejected the item (400). `failed`: no usable answer. If only one of query and
 * quick check is at fault, the other one's result is there.
 */
export interface FailedResult extends ItemResult, Results {
  readonly status: "invalid" | "failed";
  /** Null unless the other lookup's answer speaks against the item. */
  readonly verdict: Verdict | null;
  readonly missing: readonly string[];
  readonly error: FindingError;
}

/** Nothing was sent: the text is no item of a kind that the interface has, or a list holds it back. */
export interface UnsupportedResult extends AnyResult, NoResults {
  readonly status: "unsupported";
  /** Null if the text is no item, as are `kind` and `source`. */
  readonly item: string | null;
  readonly kind: ItemKind | null;
  readonly source: "local" | null;
  readonly verdict: null;
  readonly missing: readonly [];
  readonly error: FindingError;
}

/** The outcome of one lookup, told apart by `status`. Failure is data, not an exception. */
export type LookupResult = CompleteResult | IncompleteResult | FailedResult | UnsupportedResult;

/** Recognises one text and looks it up. JavaScript callers may give something other than text. */
export async function lookUp(
  lookup: Lookup,
  input: unknown,
  kind: ItemKind | null | undefined,
  signal: AbortSignal,
): Promise<LookupResult> {
  const { item, reason } =
    typeof input === "string" ? recogniseItem(input, kind ?? null) : unsupported("not_text");
  const finding = item === null ? unasked("unsupported", reason) : await lookup(item, { signal });
  const { status, answers, missing, source, httpStatus, attempts, lookedUpAt, error } = finding;
  return {
    input,
    item: item?.value ?? null,
    kind: item?.kind ?? null,
    status,
    verdict: verdictOf(finding),
    ...Object.fromEntries(
      lookupEndpoints.map((name) => [camelCase(name), answers[name]?.result ?? null]),
    ),
    missing,
    source: item && source,
    httpStatus,
    attempts,
    lookedUpAt,
    error,
  } as LookupResult;
}
