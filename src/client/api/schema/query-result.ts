import { z } from "zod";
import { dateTime, openEnum } from "./vocabulary.js";

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
export const queryResultSchema = z.discriminatedUnion("type", [
  results.IP,
  results.IP_BOGON,
  results.DOMAIN,
  results.URL,
  results.SHA1,
  results.CRYPTO_WALLET,
  results.EMAIL,
]);

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
export const partialResults = {
  ...others,
  IP: partialOf(results.IP),
  DOMAIN: partialOf(results.DOMAIN),
};

/** Result of `/query/{item}` with HTTP 503. */
export const partialResultSchema = z.discriminatedUnion("type", [
  partialResults.IP,
  partialResults.DOMAIN,
  partialResults.URL,
  partialResults.SHA1,
  partialResults.CRYPTO_WALLET,
  partialResults.EMAIL,
]);

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

/**
 * Result of `/quick-check/{item}`. The specification doesn't say which members may be null or absent,
 * so every member except `item` may be.
 */
export const quickCheckResultSchema = z.looseObject({
  item: z.string(),
  serviceMailBlocklist: openEnum.nullish(),
  type: openEnum.nullish(),
  bogon: z.boolean().nullish(),
  intent: openEnum.nullish(),
  activity: z.boolean().nullish(),
});

export type QuickCheckResult = z.infer<typeof quickCheckResultSchema>;
