import { z } from "zod";
import {
  abuseContactStatuses,
  blocklistStatuses,
  dateTime,
  intents,
  openEnum,
  text,
} from "./vocabulary.js";

const seen = {
  firstSeen: dateTime("First time that this was observed (interface: observedActivity)"),
  lastSeen: dateTime("Last time that this was observed (interface: observedActivity)"),
};
const type = text("What kind of activity it was (interface: observedActivity)");

/** One observation of a honeypot (interface: observedActivity, honeypotInteractions). */
const honeypotObservation = {
  ...seen,
  service: text("The service of the honeypot that was addressed (interface: observedActivity)"),
  type,
};

/** One observation of a spam trap (interface: observedActivity, spamtrapInteractions). */
const spamtrapObservation = { ...seen, type };

/** What honeypots and spam traps saw of an item (interface: observedActivity). */
export const observedActivitySchema = z
  .looseObject({
    honeypotInteractions: interactions(honeypotObservation).describe(
      "What honeypots saw of the item (interface: observedActivity)",
    ),
    spamtrapInteractions: interactions(spamtrapObservation).describe(
      "What spam traps saw of the item (interface: observedActivity)",
    ),
  })
  .describe("What honeypots and spam traps saw of the item (interface: observedActivity)");

export type ObservedActivity = z.infer<typeof observedActivitySchema>;

function interactions<Shape extends z.ZodRawShape>(observation: Shape) {
  return z.looseObject({
    firstSeen: dateTime("First interaction, or null (interface: observedActivity)").nullable(),
    lastSeen: dateTime("Last interaction, or null (interface: observedActivity)").nullable(),
    observations: z
      .array(z.looseObject(observation))
      .describe("The single observations (interface: observedActivity)"),
  });
}

const item = text(
  "Normalized representation of the requested item (interface: Query result, type IP (full), item)",
);

const serviceMailBlocklist = openEnum(
  blocklistStatuses,
  "Mail blocklist status of the item, or null; the deployed service names this member abusixMailBlocklist (interface: Query result, type IP (full), serviceMailBlocklist)",
).nullable();

/** What is told of addresses and domains alike. */
const history = {
  tags: z
    .array(z.string())
    .describe(
      "Names of the tags of the item, <group>:<name> (interface: Query result, type IP (full), tags)",
    ),
  firstSeen: dateTime(
    "First activity, or null (interface: Query result, type IP (full), firstSeen)",
  ).nullable(),
  lastSeen: dateTime(
    "Last activity, or null (interface: Query result, type IP (full), lastSeen)",
  ).nullable(),
  intent: openEnum(
    intents,
    "Intent of the activity; none means that nothing is known against the item; or null (interface: Query result, type IP (full), intent)",
  ).nullable(),
};

/** What `/query/{item}` tells of an IP address (interface: Query result, type IP (full)). */
const ipResult = z.looseObject({
  item,
  serviceMailBlocklist,
  type: z.literal("IP").describe("Kind of result (interface: Query result, type IP (full))"),
  bogon: z
    .literal(false)
    .describe(
      "Whether the address is outside the public address space; always false here (interface: Query result, type IP (full))",
    ),
  ...history,
  reverseDns: z
    .looseObject({
      current: z
        .array(
          z.looseObject({
            entry: text("A host name (interface: Query result, type IP (full), reverseDns)"),
          }),
        )
        .nullable()
        .describe(
          "Names that the address resolves to now, or null (interface: Query result, type IP (full), reverseDns)",
        ),
    })
    .describe("Reverse DNS of the address (interface: Query result, type IP (full))"),
  abuseContact: z
    .looseObject({
      email: z
        .string()
        .meta({
          description:
            "Mailbox for abuse reports; may be null when the status is UNKNOWN (interface: Query result, type IP (full), abuseContact)",
          format: "email",
        })
        .nullable(),
      status: openEnum(
        abuseContactStatuses,
        "Whether the mailbox works (interface: Query result, type IP (full), abuseContact)",
      ),
      lastVerification: dateTime(
        "When the mailbox was last tried, or null (interface: Query result, type IP (full), abuseContact)",
      ).nullable(),
    })
    .describe("Who takes abuse reports (interface: Query result, type IP (full))"),
  asn: z
    .looseObject({
      countryCode: text(
        "Country of the network, ISO 3166-1 alpha-2, or null (interface: Query result, type IP (full), asn)",
      ).nullable(),
      asn: z
        .string()
        .meta({
          description:
            "Autonomous system in the form AS<number>, or null (interface: Query result, type IP (full), asn)",
          examples: ["AS64496"],
        })
        .nullable(),
      name: text(
        "Name of the network, or null (interface: Query result, type IP (full), asn)",
      ).nullable(),
    })
    .describe("The network that announces the address (interface: Query result, type IP (full))"),
  observedActivity: observedActivitySchema,
});

/** What `/query/{item}` tells of an address outside the public space (interface: Query result, type IP_BOGON). */
const ipBogonResult = z.looseObject({
  item,
  type: z.literal("IP_BOGON").describe("Kind of result (interface: Query result, type IP_BOGON)"),
  bogon: z.literal(true).describe("Always true here (interface: Query result, type IP_BOGON)"),
});

/** What `/query/{item}` tells of a domain (interface: Query result, type DOMAIN). */
const domainResult = z.looseObject({
  item,
  serviceMailBlocklist,
  type: z.literal("DOMAIN").describe("Kind of result (interface: Query result, type DOMAIN)"),
  ...history,
  observedActivity: observedActivitySchema
    .nullable()
    .describe("What honeypots and spam traps saw, or null (interface: Query result, type DOMAIN)"),
});

/** What `/query/{item}` tells of a URL, a file hash, a crypto wallet or an e-mail address. */
function simpleResult<Type extends string>(type: Type) {
  return z.looseObject({
    item,
    serviceMailBlocklist,
    type: z.literal(type).describe("Kind of result (interface: Query results, types URL, SHA1, …)"),
  });
}

/** The kinds of full result by their `type`. */
export const results = {
  IP: ipResult,
  IP_BOGON: ipBogonResult,
  DOMAIN: domainResult,
  URL: simpleResult("URL"),
  SHA1: simpleResult("SHA1"),
  CRYPTO_WALLET: simpleResult("CRYPTO_WALLET"),
  EMAIL: simpleResult("EMAIL"),
};

/** Result of `/query/{item}` in full; `type` says which kind it is (interface: Endpoints, Lookup). */
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
 * The kinds of result while a part of the data is unavailable, by their `type`: of an IP address and a
 * domain every member but `item` and `type` may be null, and one that is absent counts as null. The
 * other kinds are as in the full result, and IP_BOGON is not among them (interface: Partial result).
 */
export const partialResults = {
  ...others,
  IP: partialOf(results.IP),
  DOMAIN: partialOf(results.DOMAIN),
};

/** Result of `/query/{item}` with HTTP 503 (interface: Partial result). */
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
