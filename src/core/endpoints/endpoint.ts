import { z } from "zod";

/** A JSON object as an endpoint answered it. */
export type Result = Readonly<Record<string, unknown>>;

/**
 * A lookup endpoint, at `/<name>/{item}`. Columns, verdicts, the library's results, what a retry keeps and
 * what the embedded service answers derive from it.
 */
export interface EndpointSpec {
  /** What its answer is called in texts, such as `quick check`. */
  readonly title: string;
  /** Schema of a full answer (200). */
  readonly result: z.ZodType;
  /** Schema of a partial answer (503), if the endpoint has one. */
  readonly partial: z.ZodType | null;
  /** The schema for one result; picks the kind by its `type`. */
  schemaFor(status: 200 | 503, type: unknown): z.ZodType;
  readonly columns: readonly MemberColumn[];
  /** Columns that prove an answer: one of them has a value unless all members are null. */
  readonly shownBy: readonly string[];
  /**
   * Whether a full answer alone is enough for the verdict `none`: it has whatever could speak against the
   * item. Null for an endpoint whose answers have no part in the verdict.
   */
  readonly clears: ((result: Result) => boolean) | null;
  /**
   * What the embedded service answers.
   *
   * @param known its answer to a query for the item
   */
  answerFrom(known: Result): Result;
}

export interface MemberColumn {
  readonly type: "text" | "time" | "bool" | "count" | "number" | "list";
  readonly name: string;
  readonly description: string;
  readonly path: readonly string[];
  /** Turns the member at the path into the value. @default as it is */
  readonly read?: (member: unknown, result: Result) => unknown;
  /** Turns the value back into a member. @default as it is */
  readonly restore?: (value: unknown) => unknown;
}

export function shows(
  type: MemberColumn["type"],
  name: string,
  description: string,
  ...path: readonly string[]
): MemberColumn {
  return { type, name, description, path };
}

/**
 * The mail blocklist status of a result, undefined or null without one. The specification calls the
 * member `serviceMailBlocklist`, deployed services call it `abusixMailBlocklist`.
 */
export function listedAs(result: Result | undefined): unknown {
  return result?.["serviceMailBlocklist"] ?? result?.["abusixMailBlocklist"];
}

/** The same, null unless it is a text. */
export function mailBlocklist(result: Result | undefined): string | null {
  const status = listedAs(result);
  return typeof status === "string" ? status : null;
}

/** A column for the mail blocklist status, under whichever name. */
export function showsBlocklist(name: string, description: string): MemberColumn {
  const path = ["serviceMailBlocklist"];
  return { type: "text", name, description, path, read: (_, result) => mailBlocklist(result) };
}

/**
 * The enumeration values that the interface lists. Others are accepted too: the interface is in beta,
 * and unknown values are kept and counted as drift (see `driftOf`).
 */

export const resultTypes = [
  "IP",
  "IP_BOGON",
  "DOMAIN",
  "URL",
  "SHA1",
  "CRYPTO_WALLET",
  "EMAIL",
] as const;

export function isKnownType(type: unknown): type is (typeof resultTypes)[number] {
  return resultTypes.some((known) => known === type);
}

export const abuseContactStatuses = [
  "UNKNOWN",
  "INVALID",
  "RESOLVE_FAILED",
  "CONNECT_FAILED",
  "RECIPIENT_FAILED",
  "WORKING",
] as const;

/** Documented intents. `none` means that nothing is known against the item, not that it is safe. */
export const intents = ["malicious", "suspicious", "unknown", "none"] as const;

export const blocklistStatuses = [
  "ACTIVE",
  "ALLOWLIST",
  "INFORMATIONAL",
  "NOT_LISTED",
  "PASSIVE",
] as const;

/** A text with known values. Any text passes; unknown values are kept and counted as drift. */
export const openEnum = z.string();

/**
 * A date and time (RFC 3339), kept as received. Any text passes, since one odd date is no reason to
 * reject an answer; malformed ones are counted as drift.
 */
export const dateTime = z.string();
