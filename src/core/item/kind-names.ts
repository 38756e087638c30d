import type { ItemKind } from "./item.js";

/**
 * The kind that a publisher's type label means, or null when it means none of the six. Case,
 * surrounding white space and the separators space, `_`, `-`, `.`, `:`, `|` and `/` do not count: `SHA-1`,
 * `sha_1` and `Sha1` are one. Labels of MISP, STIX, OpenIOC, OTX, OpenCTI, ThreatFox and the common
 * spreadsheets are known.
 */
export function parseKindName(text: string): ItemKind | null {
  if (text.length > longestName) return null;
  return kinds.get(text.toLowerCase().replace(separators, "")) ?? null;
}

const longestName = 64;
const separators = /[\s_.:|/-]+/g;

const names: Readonly<Record<ItemKind, string>> = {
  ip:
    "ip ips ipv4 ipv6 ip4 ip6 ipaddr ipaddress ipaddresses address addr ipv4addr ipv6addr " +
    "ipv4address ipv6address ipdst ipsrc dstip srcip destinationip sourceip remoteip clientip " +
    "ipport ipdstport ipsrcport ipv4port networkip c2ip",
  domain:
    "domain domains domainname hostname hostnames host fqdn fqdns dns dnsname dnsdomain domainport " +
    "hostnameport hostport internetdomainname networkdomain c2domain onion",
  url: "url urls uri uris link links fullurl urlfull weburl webaddress c2url networkurl",
  sha1: "sha1 sha1hash hashsha1 sha1sum filehashsha1 filesha1 malwaresha1 sha1digest",
  crypto_wallet:
    "cryptowallet wallet wallets walletaddress cryptowalletaddress cryptocurrencywallet " +
    "cryptocurrencyaddress cryptocurrency cryptoaddress blockchainaddress coinaddress btc bitcoin " +
    "btcaddress bitcoinaddress btcwallet bitcoinwallet xmr monero xmraddress moneroaddress " +
    "xmrwallet monerowallet eth ethereum ethaddress ethereumaddress ethwallet ethereumwallet ltc " +
    "litecoin ltcaddress litecoinaddress ltcwallet litecoinwallet",
  email:
    "email emails emailaddress emailaddresses emailaddr mail mailbox mailaddress emailsrc emailsource " +
    "emaildst emailsender emailfrom emailto emailreplyto emailrecipient sender senderaddress " +
    "senderemail fromaddress mailfrom replyto",
};

const kinds: ReadonlyMap<string, ItemKind> = new Map(
  (Object.entries(names) as [ItemKind, string][]).flatMap(([kind, spellings]) =>
    spellings.split(" ").map((spelling): [string, ItemKind] => [spelling, kind]),
  ),
);
