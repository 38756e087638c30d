import { z } from "zod";
import { dateTime, openEnum, text } from "./field.js";
import { observedActivitySchema } from "./observed-activity.js";
import { abuseContactStatuses, blocklistStatuses, intents } from "./vocabulary.js";

/** What `/query/{item}` tells of an IP address (interface: Query result, type IP (full)). */
export const ipResultSchema = z.looseObject({
  item: item(),
  serviceMailBlocklist: serviceMailBlocklist().nullable(),
  type: z.literal("IP").describe("Kind of result (interface: Query result, type IP (full))"),
  bogon: z
    .literal(false)
    .describe(
      "Whether the address is outside the public address space; always false here (interface: Query result, type IP (full))",
    ),
  tags: tags(),
  firstSeen: firstSeen().nullable(),
  lastSeen: lastSeen().nullable(),
  intent: intent().nullable(),
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
export const ipBogonResultSchema = z.looseObject({
  item: item(),
  type: z.literal("IP_BOGON").describe("Kind of result (interface: Query result, type IP_BOGON)"),
  bogon: z.literal(true).describe("Always true here (interface: Query result, type IP_BOGON)"),
});

/** What `/query/{item}` tells of a domain (interface: Query result, type DOMAIN). */
export const domainResultSchema = z.looseObject({
  item: item(),
  serviceMailBlocklist: serviceMailBlocklist().nullable(),
  type: z.literal("DOMAIN").describe("Kind of result (interface: Query result, type DOMAIN)"),
  tags: tags(),
  firstSeen: firstSeen().nullable(),
  lastSeen: lastSeen().nullable(),
  intent: intent().nullable(),
  observedActivity: observedActivitySchema
    .nullable()
    .describe("What honeypots and spam traps saw, or null (interface: Query result, type DOMAIN)"),
});

/** What `/query/{item}` tells of a URL, a file hash, a crypto wallet or an e-mail address. */
export const urlResultSchema = simpleResult("URL");
export const sha1ResultSchema = simpleResult("SHA1");
export const cryptoWalletResultSchema = simpleResult("CRYPTO_WALLET");
export const emailResultSchema = simpleResult("EMAIL");

/** Result of `/query/{item}` in full; `type` says which kind it is (interface: Endpoints, Lookup). */
export const queryResultSchema = z.discriminatedUnion("type", [
  ipResultSchema,
  ipBogonResultSchema,
  domainResultSchema,
  urlResultSchema,
  sha1ResultSchema,
  cryptoWalletResultSchema,
  emailResultSchema,
]);

export type IpResult = z.infer<typeof ipResultSchema>;
export type IpBogonResult = z.infer<typeof ipBogonResultSchema>;
export type DomainResult = z.infer<typeof domainResultSchema>;
export type UrlResult = z.infer<typeof urlResultSchema>;
export type Sha1Result = z.infer<typeof sha1ResultSchema>;
export type CryptoWalletResult = z.infer<typeof cryptoWalletResultSchema>;
export type EmailResult = z.infer<typeof emailResultSchema>;
export type QueryResult = z.infer<typeof queryResultSchema>;

function simpleResult<Type extends string>(type: Type) {
  return z.looseObject({
    item: item(),
    serviceMailBlocklist: serviceMailBlocklist().nullable(),
    type: z.literal(type).describe("Kind of result (interface: Query results, types URL, SHA1, …)"),
  });
}

function item() {
  return text(
    "Normalized representation of the requested item (interface: Query result, type IP (full), item)",
  );
}

function serviceMailBlocklist() {
  return openEnum(
    blocklistStatuses,
    "Mail blocklist status of the item, or null; the deployed service names this member abusixMailBlocklist (interface: Query result, type IP (full), serviceMailBlocklist)",
  );
}

function tags() {
  return z
    .array(z.string())
    .describe(
      "Names of the tags of the item, <group>:<name> (interface: Query result, type IP (full), tags)",
    );
}

function firstSeen() {
  return dateTime("First activity, or null (interface: Query result, type IP (full), firstSeen)");
}

function lastSeen() {
  return dateTime("Last activity, or null (interface: Query result, type IP (full), lastSeen)");
}

function intent() {
  return openEnum(
    intents,
    "Intent of the activity; none means that nothing is known against the item; or null (interface: Query result, type IP (full), intent)",
  );
}
