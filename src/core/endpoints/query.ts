import { z } from "zod";
import {
  type EndpointSpec,
  shows,
  showsBlocklist,
  dateTime,
  isKnownType,
  openEnum,
} from "./endpoint.js";

const seen = {
  firstSeen: dateTime,
  lastSeen: dateTime,
};
const type = z.string();

const honeypotObservation = { ...seen, service: z.string(), type };

const spamtrapObservation = { ...seen, type };

const observedActivitySchema = z.looseObject({
  honeypotInteractions: interactions(honeypotObservation),
  spamtrapInteractions: interactions(spamtrapObservation),
});

export type ObservedActivity = z.infer<typeof observedActivitySchema>;

function interactions<Shape extends z.ZodRawShape>(observation: Shape) {
  return z.looseObject({
    firstSeen: dateTime.nullable(),
    lastSeen: dateTime.nullable(),
    observations: z.array(z.looseObject(observation)),
  });
}

const item = z.string();

const serviceMailBlocklist = openEnum.nullable();

/** Members common to addresses and domains. */
const history = {
  tags: z.array(z.string()),
  firstSeen: dateTime.nullable(),
  lastSeen: dateTime.nullable(),
  intent: openEnum.nullable(),
};

const ipResult = z.looseObject({
  item,
  serviceMailBlocklist,
  type: z.literal("IP"),
  bogon: z.literal(false),
  ...history,
  reverseDns: z.looseObject({
    current: z.array(z.looseObject({ entry: z.string() })).nullable(),
  }),
  abuseContact: z.looseObject({
    email: z.string().nullable(),
    status: openEnum,
    lastVerification: dateTime.nullable(),
  }),
  asn: z.looseObject({
    countryCode: z.string().nullable(),
    asn: z.string().nullable(),
    name: z.string().nullable(),
  }),
  observedActivity: observedActivitySchema,
});

/** Result of `/query/{item}` for an address outside the public space. */
const ipBogonResult = z.looseObject({
  item,
  type: z.literal("IP_BOGON"),
  bogon: z.literal(true),
});

const domainResult = z.looseObject({
  item,
  serviceMailBlocklist,
  type: z.literal("DOMAIN"),
  ...history,
  observedActivity: observedActivitySchema.nullable(),
});

/** Result of `/query/{item}` for a URL, a SHA1 hash, a crypto wallet or an e-mail address. */
function simpleResult<Type extends string>(type: Type) {
  return z.looseObject({
    item,
    serviceMailBlocklist,
    type: z.literal(type),
  });
}

/** Full results by `type`. */
export const results = {
  IP: ipResult,
  IP_BOGON: ipBogonResult,
  DOMAIN: domainResult,
  URL: simpleResult("URL"),
  SHA1: simpleResult("SHA1"),
  CRYPTO_WALLET: simpleResult("CRYPTO_WALLET"),
  EMAIL: simpleResult("EMAIL"),
};

/** Full result of `/query/{item}`; `type` selects the kind. */
export const queryResultSchema = oneOf(results);

function oneOf<Kind extends z.ZodObject>(kinds: Readonly<Record<string, Kind>>) {
  return z.discriminatedUnion("type", Object.values(kinds) as [Kind, ...Kind[]]);
}

export type IpResult = z.infer<typeof results.IP>;
export type IpBogonResult = z.infer<typeof results.IP_BOGON>;
export type DomainResult = z.infer<typeof results.DOMAIN>;
export type UrlResult = z.infer<typeof results.URL>;
export type Sha1Result = z.infer<typeof results.SHA1>;
export type CryptoWalletResult = z.infer<typeof results.CRYPTO_WALLET>;
export type EmailResult = z.infer<typeof results.EMAIL>;
export type QueryResult = z.infer<typeof queryResultSchema>;

const { IP_BOGON: _notAmongThem, ...others } = results;

/**
 * Partial results by `type`. For IP addresses and domains, every member except `item` and `type` may be
 * null, and an absent member counts as null. The other kinds are as in full results; IP_BOGON has no
 * partial form.
 */
const partialResults = {
  ...others,
  IP: partialOf(results.IP),
  DOMAIN: partialOf(results.DOMAIN),
};

/** Result of `/query/{item}` with HTTP 503. */
const partialResultSchema = oneOf(partialResults);

export type PartialIpResult = z.infer<typeof partialResults.IP>;
export type PartialDomainResult = z.infer<typeof partialResults.DOMAIN>;
export type PartialResult = z.infer<typeof partialResultSchema>;

type Nullish<Field> = Field extends z.ZodNullable
  ? z.ZodOptional<Field>
  : Field extends z.ZodType
    ? z.ZodOptional<z.ZodNullable<Field>>
    : never;

type PartialShape<Shape> = {
  [Member in keyof Shape]: Member extends "item" | "type" ? Shape[Member] : Nullish<Shape[Member]>;
};

function partialOf<Shape extends Readonly<Record<string, z.ZodType>>>(
  result: z.ZodObject<Shape, z.core.$loose>,
): z.ZodObject<PartialShape<Shape>, z.core.$loose> {
  const shape = Object.entries(result.shape).map(([name, field]) => {
    if (name === "item" || name === "type") return [name, field];
    return [name, field instanceof z.ZodNullable ? field.optional() : field.nullish()];
  });
  return z.looseObject(Object.fromEntries(shape) as PartialShape<Shape>);
}

/** An unknown kind passes if the members it shares with known kinds are valid. */
const unknownKindSchema = z.looseObject({
  ...partialResults.IP.shape,
  type,
  bogon: z.boolean().nullish(),
});

const kinds: Readonly<Record<200 | 503, ReadonlyMap<unknown, z.ZodType>>> = {
  200: new Map(Object.entries(results)),
  503: new Map(Object.entries(partialResults)),
};

const honeypots = ["observedActivity", "honeypotInteractions"] as const;
const spamtraps = ["observedActivity", "spamtrapInteractions"] as const;

/** `/query/{item}`: everything that the service knows. */
export const query = {
  title: "query",
  result: queryResultSchema,
  partial: partialResultSchema,
  schemaFor: (status, kind) =>
    kinds[status].get(kind) ?? (isKnownType(kind) ? partialResultSchema : unknownKindSchema),
  columns: [
    shows("text", "type", "The service's own type of the result, such as IP_BOGON", "type"),
    showsBlocklist("mail_blocklist", "Mail blocklist status"),
    shows("bool", "bogon", "The address is in a reserved range", "bogon"),
    shows("text", "intent", "malicious, suspicious, unknown or none (nothing known)", "intent"),
    shows("list", "tags", "Tags of threat activity", "tags"),
    shows("time", "first_seen", "First seen", "firstSeen"),
    shows("time", "last_seen", "Last seen", "lastSeen"),
    {
      ...shows("list", "reverse_dns", "Current reverse DNS names", "reverseDns"),
      read: (member) => {
        const { current } = (member ?? {}) as { readonly current?: unknown };
        return Array.isArray(current)
          ? current.map((each) => (each as { readonly entry?: unknown } | null)?.entry)
          : null;
      },
      restore: (names) =>
        Array.isArray(names) && names.length > 0
          ? { current: names.map((entry: string) => ({ entry })) }
          : null,
    },
    shows("text", "abuse_email", "Abuse contact", "abuseContact", "email"),
    shows("text", "abuse_status", "Whether the abuse contact works", "abuseContact", "status"),
    shows(
      "time",
      "abuse_verified_at",
      "When the abuse contact was last verified",
      "abuseContact",
      "lastVerification",
    ),
    shows("text", "asn", "Autonomous system, as AS<number>", "asn", "asn"),
    shows("text", "as_name", "Name of the autonomous system", "asn", "name"),
    shows(
      "text",
      "as_country",
      "Country of the autonomous system, ISO 3166-1 alpha-2",
      "asn",
      "countryCode",
    ),
    shows("time", "honeypot_first_seen", "First honeypot interaction", ...honeypots, "firstSeen"),
    shows("time", "honeypot_last_seen", "Last honeypot interaction", ...honeypots, "lastSeen"),
    shows("count", "honeypot_observations", "Honeypot observations", ...honeypots, "observations"),
    shows("time", "spamtrap_first_seen", "First spamtrap interaction", ...spamtraps, "firstSeen"),
    shows("time", "spamtrap_last_seen", "Last spamtrap interaction", ...spamtraps, "lastSeen"),
    shows("count", "spamtrap_observations", "Spamtrap observations", ...spamtraps, "observations"),
  ],
  shownBy: ["type"],
  clears: () => true,
  answerFrom: (known) => known,
} as const satisfies EndpointSpec;
