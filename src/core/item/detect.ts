import { readDomain, readEmail } from "./hostname.js";
import { readIp, readIpv6 } from "./ip.js";
import type { Item, ItemKind, Recognition, UnsupportedCode } from "./item.js";
import { readUrl, isNetwork } from "./url.js";
import { readWallet, looksLikeWallet } from "./wallet.js";
import { strip } from "./refang.js";
import { itemCodes } from "../row-codes.js";

/** One reader per kind: returns the normal form, or null. `labelled`: the input states the kind. */
type Reader = (text: string, labelled: boolean) => string | null;

/** In order of detection, strictest first. Only domains overlap with others: addresses and wallets. */
const readers = {
  ip: readIp,
  sha1: readSha1,
  crypto_wallet: readWallet,
  url: readUrl,
  email: readEmail,
  domain: readDomain,
} as const satisfies Record<ItemKind, Reader>;
const inOrder = Object.entries(readers) as [ItemKind, Reader][];

/** Detects the kind of a stripped and refanged text. Null if it is none of the six. */
export function detectItem(text: string): Item | null {
  for (const [kind, read] of inOrder) {
    const value = read(text, false);
    if (value !== null) return { kind, value };
  }
  return null;
}

export function readItemAs(kind: ItemKind, text: string): Item | null {
  const value = readers[kind](text, true);
  return value === null ? null : { kind, value };
}

/**
 * Reads a SHA1 hash: 40 hex digits, converted to lower case. Drops a leading `sha1:`.
 *
 * @returns the normal form, or null if the text is not a SHA1 hash
 */
export function readSha1(text: string): string | null {
  return sha1.exec(text)?.[1]?.toLowerCase() ?? null;
}

const sha1 = /^(?:sha-?1: ?)?([\da-f]{40})$/i;

function isHex(text: string): boolean {
  return /^[\da-f]*$/i.test(text);
}

/** Says why a stripped and refanged text is not an item. The text must not be one. */
export function explainUnsupported(text: string): UnsupportedCode {
  return (
    hashReason(text) ??
    tests.find(([, test]) => (test instanceof RegExp ? test.test(text) : test(text)))?.[0] ??
    (hasItem(text) ? "prose" : "text")
  );
}

const mostWords = 64;
const around = /^[([{]+|[)\]}.,:;!?]+$/g;

function hasItem(text: string): boolean {
  const words = text.split(/\s+/, mostWords);
  return words.some(
    (word) => /[.@:]/.test(word) && detectItem(strip(word).replaceAll(around, "")) !== null,
  );
}

const tests: readonly (readonly [UnsupportedCode, RegExp | ((text: string) => boolean)])[] = [
  ["cidr", isNetwork],
  ["ip_range", isAddressRange],
  ["ip_zone", hasZone],
  ["ip_leading_zero", /^(?=(?:\d+\.){0,3}0\d)\d+\.\d+\.\d+\.\d+(?:[:/]|$)/],
  ["wallet_checksum", looksLikeWallet],
  ["url_syntax", /^(?:https?|ftp|wss?):/i],
  ["url_scheme", /^(?:[a-z][\w+.-]+:\/\/|(?:about|data|file|javascript|magnet|tel|sms|urn):)/i],
  ["path", isPath],
  ["email_syntax", /^\S*@\S*$/],
  ["file_name", hasFileExtension],
  ["wildcard", /^(?:(?=\S*\.)\S*\*\S*|\.(?:[\w-]+\.)+[\w-]+)$/],
  [
    "unknown_suffix",
    /^(?!\d+\.\d+\.\d+\.\d+(?:[:/]|$))[^\s/?#:@\\]+\.[^\s/?#:@\\.]+\.?(?:[/?#:]|$)/,
  ],
];

/** By the number of digits. */
const hashes: Readonly<Record<number, UnsupportedCode>> = {
  32: "md5",
  56: "sha224",
  64: "sha256",
  96: "sha384",
  128: "sha512",
};
const hashLabel = /^(?:md5|sha-?\d{1,3}) ?[:=] ?/i;
const hexPrefix = /^0x(?=[\da-f]{16})/i;
/** Fewer digits could also be a word, a serial or a number. */
const shortestHex = 16;

function hashReason(text: string): UnsupportedCode | null {
  const digits = text.replace(hashLabel, "").replace(hexPrefix, "");
  if (digits.length < shortestHex || !isHex(digits)) return null;
  if (digits.length === 40 && hexPrefix.test(text)) return null;
  return hashes[digits.length] ?? "hex_length";
}

const fourNumbers = /^\d+\.\d+\.\d+\.\d+(?:[:/]|$)/;
const rangeOfQuads = /^\d{1,3}(?:\.\d{1,3}){3} ?(?:-|–|—|to) ?\d{1,3}(?:\.\d{1,3}){0,3}$/i;
const starredQuad = /^\d{1,3}(?:\.(?:\d{1,3}|\*|x)){3}$/i;

/** Whether a text is a range of addresses: `192.0.2.1-9`, `192.0.2.1 - 192.0.2.9`, `192.0.2.*`. */
export function isAddressRange(text: string): boolean {
  if (rangeOfQuads.test(text)) return true;
  if (starredQuad.test(text) && !fourNumbers.test(text)) return true;
  const dash = text.indexOf("-");
  return (
    dash > 0 &&
    readIpv6(text.slice(0, dash).trimEnd()) !== null &&
    readIpv6(text.slice(dash + 1).trimStart()) !== null
  );
}

function hasZone(text: string): boolean {
  const percent = text.indexOf("%");
  return percent > 0 && readIpv6(text.slice(text.startsWith("[") ? 1 : 0, percent)) !== null;
}

const pathStart = /^(?:[a-z]:[\\/]|[\\/]|~[\w-]*\/|\.{1,2}\/|%\w+%|\$\{?\w+)/i;

function isPath(text: string): boolean {
  if (pathStart.test(text) || text.includes("\\")) return true;
  return text.includes("/") && hasFileExtension(text);
}

/** Top-level domains that are extensions of files, too. */
const endings = /\.(?:app|cab|cat|do|java|md|mov|pl|ps|py|rs|sh|so|zip)$/;

export function hasNameOfFile(domain: string): boolean {
  return endings.test(domain);
}

/** True if a text that is not a domain ends in a common file extension. */
function hasFileExtension(text: string): boolean {
  const [, extension = ""] = lastExtension.exec(text) ?? [];
  return fileExtensions.has(extension.toLowerCase());
}

const lastExtension = /\.([^.]{1,24})$/;

export const fileExtensions: ReadonlySet<string> = new Set(
  (
    "7z a aac ace apk appx appxbundle arj asp aspx avi awk axd bak bash bat bin bmp bz2 c cab " +
    "cer cfg cfm chm class cmake cmd conf config cpl cpp crt crx cs csproj css csv cxx dat db " +
    "deb dex diagcab diff dll dmg doc docm docx dot dotm dotx drv dump dylib ear elf eml eps " +
    "eur evtx exe fon gif gz h hpp hta htm html ico ics idx img inf ini ipa iqy iso jar jpeg " +
    "jpg js jse json jsp jspx jsx key ko lnk lock log lua lz lzma m3u m4 mak mht mhtml mjs mp3 " +
    "mp4 mpg msc msg msi msix msp mui nlp o ocx odt ole one onepkg otf ova p12 patch pcap pdb " +
    "pdf pem pfx php phtml pif plist png po pps ppsx ppt pptm pptx prf properties ps1 ps1xml " +
    "psd1 psm1 pst pub pyc pyd pyw rar rb rc reg rpm rst rtf scr sct service settingcontent-ms " +
    "slk sln so sql sqlite svg swf sys tar tbz2 tex tgz tif tiff tmp toml ts tsv tsx ttf txt " +
    "url vb vbe vbs vhd vhdx vmdk vsix war wasm wav webm webp wim woff wsc wsf wsh xbap xhtml " +
    "xla xlam xll xls xlsb xlsm xlsx xlt xltm xml xps xsl xz yaml yar yml z"
  ).split(" "),
);

export function unsupported(code: UnsupportedCode): Recognition {
  return { item: null, reason: { code, message: itemCodes[code][0] } };
}
