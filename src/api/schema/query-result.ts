import { z } from "zod";
import {
  abuseContactStatuses,
  blocklistStatuses,
  dateTime,
  intents,
  openEnum,
  describedText,
  resultTypes,
} from "./vocabulary.js";

const seen = {
  firstSeen: dateTime("Time of the first observation"),
  lastSeen: dateTime("Time of the last observation"),
};
const type = describedText("Type of activity");

const honeypotObservation = {
  ...seen,
  service: describedText("Honeypot service that was contacted"),
  type,
};

const spamtrapObservation = { ...seen, type };

export const observedActivitySchema = z
  .looseObject({
    honeypotInteractions: interactions(honeypotObservation).describe("Activity seen by honeypots"),
    spamtrapInteractions: interactions(spamtrapObservation).describe("Activity seen by spam traps"),
  })
  .describe("Activity seen by honeypots and spam traps");

export type ObservedActivity = z.infer<typeof observedActivitySchema>;

function interactions<Shape extends z.ZodRawShape>(observation: Shape) {
  return z.looseObject({
    firstSeen: dateTime("First interaction, or null").nullable(),
    lastSeen: dateTime("Last interaction, or null").nullable(),
    observations: z.array(z.looseObject(observation)).describe("Individual observations"),
  });
}

const item = describedText("Normalized representation of the requested item");

const serviceMailBlocklist = openEnum(
  blocklistStatuses,
  "Mail blocklist status of the item, or null; the deployed service names this member abusixMailBlocklist",
).nullable();

/** Members common to addresses and domains. */
const history = {
  tags: z.array(z.string()).describe("Names of the item's tags, <group>:<name>"),
  firstSeen: dateTime("First activity, or null").nullable(),
  lastSeen: dateTime("Last activity, or null").nullable(),
  intent: openEnum(
    intents,
    "Intent of the activity; none means that nothing is known against the item; may be null",
  ).nullable(),
};

const ipResult = z.looseObject({
  item,
  serviceMailBlocklist,
  type: z.literal("IP").describe("Kind of result"),
  bogon: z
    .literal(false)
    .describe("Whether the address is outside the public address space; always false here"),
  ...history,
  reverseDns: z
    .looseObject({
      current: z
        .array(
          z.looseObject({
            entry: describedText("A host name"),
          }),
        )
        .nullable()
        .describe("Names that the address currently resolves to, or null"),
    })
    .describe("Reverse DNS of the address"),
  abuseContact: z
    .looseObject({
      email: z
        .string()
        .meta({
          description: "Mailbox for abuse reports; may be null when the status is UNKNOWN",
          format: "email",
        })
        .nullable(),
      status: openEnum(abuseContactStatuses, "Whether the mailbox works"),
      lastVerification: dateTime("Time of the last delivery attempt, or null").nullable(),
    })
    .describe("Contact for abuse reports"),
  asn: z
    .looseObject({
      countryCode: describedText("Country of the network, ISO 3166-1 alpha-2, or null").nullable(),
      asn: z
        .string()
        .meta({
          description: "Autonomous system in the form AS<number>, or null",
          examples: ["AS64496"],
        })
        .nullable(),
      name: describedText("Name of the network, or null").nullable(),
    })
    .describe("The network that announces the address"),
  observedActivity: observedActivitySchema,
});

/** Result of `/query/{item}` for an address outside the public space. */
const ipBogonResult = z.looseObject({
  item,
  type: z.literal("IP_BOGON").describe("Kind of result"),
  bogon: z.literal(true).describe("Always true here"),
});

const domainResult = z.looseObject({
  item,
  serviceMailBlocklist,
  type: z.literal("DOMAIN").describe("Kind of result"),
  ...history,
  observedActivity: observedActivitySchema
    .nullable()
    .describe("Activity seen by honeypots and spam traps, or null"),
});

/** Result of `/query/{item}` for a URL, a SHA1 hash, a crypto wallet or an e-mail address. */
function simpleResult<Type extends string>(type: Type) {
  return z.looseObject({
    item,
    serviceMailBlocklist,
    type: z.literal(type).describe("Kind of result"),
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
  item: describedText("The item"),
  serviceMailBlocklist: openEnum(
    blocklistStatuses,
    "Mail blocklist status, as in the query result",
  ).nullish(),
  type: openEnum(resultTypes, "Kind of the item").nullish(),
  bogon: z.boolean().describe("Whether the item is an address outside the public space").nullish(),
  intent: openEnum(intents, "Intent, as in the query result").nullish(),
  activity: z.boolean().describe("Whether activity was seen").nullish(),
});

export type QuickCheckResult = z.infer<typeof quickCheckResultSchema>;
