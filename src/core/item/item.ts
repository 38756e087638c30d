import type { itemCodes } from "../row-codes.js";

export const itemKinds = ["ip", "domain", "url", "sha1", "crypto_wallet", "email"] as const;

export type ItemKind = (typeof itemKinds)[number];

/** One thing to look up, normalised: what is sent, compared and stored. */
export interface Item {
  readonly kind: ItemKind;
  /** Normalised text, e.g. `2001:db8::1`, `example.com`, 40 lower-case hex digits for SHA1. */
  readonly value: string;
}

export type UnsupportedCode = keyof typeof itemCodes;

export interface UnsupportedReason {
  readonly code: UnsupportedCode;
  readonly message: string;
}

export type Recognition =
  | { readonly item: Item; readonly reason: null }
  | { readonly item: null; readonly reason: UnsupportedReason };

/**
 * The kind that a publisher's type label stands for, or null if none of the six. Ignores case,
 * surrounding white space and the separators space, `_`, `-`, `.`, `:`, `|` and `/`: `SHA-1`, `sha_1`
 * and `Sha1` are the same. Knows the labels of MISP, STIX, OpenIOC, OTX, OpenCTI, ThreatFox and
 * common spreadsheets.
 */
export function parseKindName(text: string): ItemKind | null {
  return kinds.get(bareName(text)) ?? null;
}

/**
 * True for any known type label, supported or not: `ip-dst`, but also `sha256`, `filename` and
 * `mutex`.
 */
export function isPublishedKind(text: string): boolean {
  const name = bareName(text);
  return kinds.has(name) || otherKinds.has(name);
}

function bareName(text: string): string {
  return text.length > longestName ? "" : text.toLowerCase().replace(separators, "");
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
    "litecoin ltcaddress litecoinaddress ltcwallet litecoinwallet crypto sol solana soladdress " +
    "solanaaddress solanawallet trx tron trxaddress tronaddress tronwallet usdt usdtaddress",
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

const otherKinds: ReadonlySet<string> = new Set(
  (
    "md5 md5hash hashmd5 md5sum filehashmd5 filemd5 sha224 sha256 sha256hash hashsha256 sha256sum " +
    "filehashsha256 filesha256 sha384 sha512 sha512hash hash hashes filehash imphash ssdeep tlsh " +
    "vhash authentihash pehash ja3 ja3s jarm file files filename filenames filepath filepathname " +
    "path folder directory urlpath uripath command commandline commandlineparameter script " +
    "tool process processname service servicename driver scheduledtask scheduledtaskpath task " +
    "registry registrykey registrypath registrypathkey registryvalue regkey mutex mutant " +
    "namedpipe pipe account accountname useraccount user username useragent httpuseragent asn as " +
    "cidr network subnet netblock iprange port certificate certificateserial sslcertificateserial " +
    "x509 x509fingerprintsha1 x509fingerprintsha256 rsakey registrar yara snort sigma cve " +
    "vulnerability malwaresample attachment emailattachment emailsubject pdb packagename"
  ).split(" "),
);
