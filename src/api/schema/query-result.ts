import { z } from "zod";
import { dateTime, openEnum, text } from "./field.js";
import { observedActivitySchema } from "./observed-activity.js";
import { abuseContactStatuses, blocklistStatuses, intents } from "./vocabulary.js";

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
