import { describe, expect, it } from "vitest";
import type { ItemKind } from "../../../src/core/item/item.js";
import { recogniseItem } from "../../../src/core/item/recognise.js";
import { itemFinder } from "../../../src/jobs/extract/find-items.js";

const sha1 = "da39a3ee5e6b4b0d3255bfef95601890afd80709";
const sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const md5 = "d41d8cd98f00b204e9800998ecf8427e";
const wallet = "16L5yRNPTuciSgXGHqYwn9N6NeoKqopAu";

/** The kind and value that a cell is read as, or the code of why it is not sent. */
function read(text: string, kind: ItemKind | null = null): string {
  const { item, reason } = recogniseItem(text, kind);
  return item === null ? reason.code : `${item.kind} ${item.value}`;
}

/** What cells are read as, and the cells. */
type Cells = readonly (readonly [reading: string, ...texts: string[]])[];

const itself: Cells = [
  ["empty", ` "" `],
  ["ip 192.0.2.1", "192.0.2.1", " 192[.]0[.]2[.]1:443 ", "?192.0.2.1", "C2 IP: 192.0.2.1"],
  ["domain example.com", `"Example[.]COM",`],
  ["email User@example.com", "User [at] example [dot] com"],
  [`sha1 ${sha1}`, sha1.toUpperCase()],
  [`crypto_wallet ${wallet}`, ` ${wallet},`, `BTC: ${wallet}`],
  // A URL to its end, whatever is in it.
  ["url http://8.8.8.8/x", "<http://8.8.8.8/x>", "8.8.8[.]8/x"],
  ["url http://example.com/my%20file.exe", "http://example.com/my file.exe"],
  ["url http://example.com/a%20setup.exe", "http://example.com/a setup.exe"],
  ["url https://example.com/my%20archive.zip", "https://example.com/my archive.zip"],
  ["url ftp://example.com/a%20b%20c", "ftp://example.com/a b c"],
  ["url http://example.com/a%20b", "URL: http://example.com/a b"],
  ["url http://example.com/a%20(C2)", "http://example.com/a (C2)"],
  ["url http://example.com/a?b=c==", "http://example.com/a?b=c=="],
  ["url http://example.com/a__b__", "http://example.com/a__b__"],
  ["url http://example.com/it's,a;b|c", "http://example.com/it's,a;b|c"],
  ["url http://example.com/,/", "URL:http://example.com/,/"],
  ["url http://example.com/?q=%22a%20b%22", 'http://example.com/?q="a b"'],
  ["url http://example.com/?q=%27a%27", "http://example.com/?q='a'", `"http://example.com/?q='a'"`],
  ["url http://example.com/%3Ca%3E", "hxxp[:]//example[.]com/<a>"],
  ["url http://example.com/a", '"http://example.com/a"', 'http://example.com/a""'],
  ["url http://example.com/a", "<http://example.com/a>", `? url:"hxxp://example[.]com/a"`],
  ["url http://example.com/a~-*_", "http://example.com/a~-*_"],
  ["url http://example.com/%E6%9D%A1%EF%BC%9A%E3%80%82%E9%A1%B5", "http://example.com/条：。页"],
  ["url http://example.com/a=b;c(d)", "example.com/a=b;c(d)"],
  ["url http://example.com:8443/", "http://user:secret@example.com:8443/"],
  ["url http://xn--bcher-kva.example.com/%C3%A4", "http://bücher.example.com/ä"],
  // Local parts of mailing lists.
  ["email bounce=ann=example.org@example.com", "bounce=ann=example.org@example.com"],
  ["domain _dmarc.example.com", "_dmarc.example.com"],
  // Widths, dashes and what nobody sees.
  ["url_syntax", "hxxps：／／example。com：8443／a"],
  ["url https://example.com:8443/a", "hxxps：／／example。com：8443/a"],
  ["ip 192.0.2.1", "１９２．０．２．１", "\u061c192.0.2.1\u061c"],
  ["url http://my-host.example.com/a-b", "http://my−host.example.com/a–b"],
  ["url http://example.com/ab", "http://example.com/a\u2060b"],
  // Joiners are letters of some scripts.
  ["domain xn--mgba3gch31f060k.com", "نامه\u200cای.com"],
  // Mapped addresses are IPv4.
  ["ip 192.0.2.1", "::ffff:192.0.2.1", "0:0:0:0:0:FFFF:C000:0201", "[::ffff:192.0.2.1]:51234"],
  ["url http://9.9.9.9:8080/a", "http://[::ffff:9.9.9.9]:8080/a"],
  ["url http://9.9.9.9/", "http://[0:0:0:0:0:ffff:909:909]/"],
  ["internal_host", "http://[::ffff:10.0.0.1]/"],
  ["cidr", "::ffff:192.0.2.0/120"],
  // JSON's slashes.
  ["url http://example.com/a", "http:\\/\\/example.com\\/a", "hxxp[:]\\/\\/example[.]com\\/a"],
  // One bracket, backslashes, brackets around the scheme.
  [
    "domain login.example.com",
    "login[.example[.com",
    "login.]example.]com",
    "login\\.example\\.com",
  ],
  ["ip 2001:db8::bad:1", "2001[:]db8[::]bad[:]1"],
  ["url http://example.com/a", "(hxxp://)example.com/a"],
  ["url https://example.com/a", "[hxxps]://example[.]com/a", "hxxp[s][:]//example.com/a"],
  // A sentence's marks.
  ["ip 192.0.2.1", "(192.0.2.1)", "192.0.2.1.", "• 192.0.2.1", "192.0.2.1?", "（192.0.2.1）"],
  ["domain example.com", "[example.com]", "example.com?", "《example.com》", "【example.com】"],
  ["url https://cdn.example.net/a.bin", "https://cdn.example.net/a.bin。"],
  ["url http://example.com/a", "「http://example.com/a」"],
  // Ports, as tools write them.
  ["ip 192.0.2.1", "192.0.2.1:443/tcp", "192.0.2.1#53", "192.0.2.1/50000"],
  ["ip 2001:db8::1", "[2001:db8::1]:53/UDP", "2001:db8::1#50000"],
  ["domain example.com", "example.com:53/udp"],
  ["url http://example.com:8080/tcp/a", "example.com:8080/tcp/a"],
  // What browsers open: a backslash ends the host.
  ["url http://9.9.9.9/@example.com/", "http://9.9.9.9\\@example.com/"],
  ["url http://9.9.9.9/:80@example.com/", "http://9.9.9.9\\:80@example.com/"],
  ["url http://9.9.9.9/.a@example.com/", "hxxp[:]//9[.]9[.]9[.]9\\.a@example.com/"],
  ["url http://9.9.9.9/_a@example.com/", "http:\\\\9.9.9.9\\_a@example.com/"],
  ["internal_host", "http://10.0.0.1\\@example.com/"],
  ["url http://example.com:8443/a_b@c", "http://example\\.com\\:8443/a\\_b@c"],
];

const noted: Cells = [
  ["email ann@example.com", "Ann Example <ann@example.com>", "Ann Example (ann@example.com)"],
  ["email ann@example.com", '"Example, Ann" <ann[@]example[.]com>', "ann@example.com (Ann)"],
  ["ip 192.0.2.1", "192.0.2.1 (C2)", "192.0.2.1（C2）", "192.0.2.1(C2)"],
  ["ip 192.0.2.1", "192.0.2.1 443", "192.0.2.1, 443", "192.0.2.1:443 - loader"],
  ["ip 192.0.2.1", "192.0.2.1 # scanner", "192.0.2.1\tscanner", "192.0.2.1 | C2 of the loader."],
  ["ip 2001:db8::1", "[2001:db8::1]:443 (C2)"],
  ["domain login.example.com", "login.example.com (C2)", "IOC: login.example.com (C2)"],
  ["domain login.example.com", "login[.]example[.]com – C2 of the loader"],
  ["domain example.com", "example.com 443"],
  ["url http://example.com/a(b)", "example.com/a(b) (C2)"],
  ["url http://example.com/a", "http://example.com/a\tC2 of the loader"],
  // Numbered, marked and counted (`uniq -c`).
  ["ip 192.0.2.1", "1. 192.0.2.1", "[+] 192.0.2.1", "1234 192.0.2.1"],
  ["domain example.com", "2) example.com", "- example.com", "   3 example.com"],
  ["url http://example.com/a", "7 http://example.com/a (404)"],
  [`sha1 ${sha1}`, `5 ${sha1}`],
  // Another item behind the name of a field.
  ["several", "3 example.com 192.0.2.1", "src=192.0.2.1 spt=443 dst=198.51.100.7"],
  ["several", "192.0.2.1 port 443 request=http://example.com/a"],
  ["several", "192.0.2.1 - user root@198.51.100.7 - login"],
  ["ip 192.0.2.1", "SRC=192.0.2.1 LEN=40 DST=192.0.2.1", "SRC=192.0.2.1 LEN=40 FILE=setup.exe"],
  // A comment, not a part of the item.
  ["domain example.com", "example.com#note", "example.com#a/b", "example.com# note"],
  ["ip 192.0.2.1", "192.0.2.1#dns.example.net"],
  ["ip 2001:db8::1", "[2001:db8::1]:443#note"],
  ["several", "example.com#note 192.0.2.1"],
  ["url http://example.com/a#b", "example.com/a#b"],
  ["url http://example.com/#b", "http://example.com#b"],
  // Checksums.
  [`sha1 ${sha1}`, `a.exe\t${sha256}\t${sha1}  Loader, second stage.`],
  [`sha1 ${sha1}`, `${sha1}  Order Details.chm`, `${sha1} *2024 - Guide.chm`],
  [`sha1 ${sha1}`, `${sha1}  example.com`, `\\${sha1}  line\\nend.txt`],
  [`sha1 ${sha1}`, `SHA1 (Order (2) Details.chm) = ${sha1}`],
  ["sha256", `${sha256}  Order Details.chm`],
  // STIX patterns.
  ["ip 192.0.2.1", "[ipv4-addr:value = '192.0.2.1']"],
  ["ip 192.0.2.1", "[ipv4-addr:value = '192.0.2.1'] OR [ipv4-addr:value = '192.0.2.1']"],
  [
    "ip 192.0.2.11",
    "[network-traffic:dst_ref.value = '192.0.2.11' AND network-traffic:dst_port = 443]",
  ],
  ["ip 2001:db8::1", "[ipv6-addr:value='2001:db8::1']"],
  ["url http://example.net/it's%20a.bin", "[url:value = 'http://example.net/it\\'s a.bin']"],
  ["domain login.example.com", "[domain-name:value = 'login.example.com']"],
  ["email ann@example.com", "[email-message:from_ref.value = 'ann@example.com']"],
  [`sha1 ${sha1}`, `[file:hashes.'SHA-1' = '${sha1}']`],
  [`sha1 ${sha1}`, `[file:hashes.SHA1 = '${sha1}' AND file:name = 'example.com']`],
];

const listed: Cells = [
  // Lists as JSON, Python and PostgreSQL write them.
  ["ip 192.0.2.1", '["192.0.2.1"]', "192.0.2.1;192.0.2.1", "192.0.2.1|8080"],
  ["email ann@example.com", "['ann@example.com']", "[u'ann@example.com',]"],
  ["email ann@example.com", "{ann@example.com,NULL}"],
  ["url http://example.com/a", '[ "http:\\/\\/example.com\\/a" ]'],
  [`sha1 ${sha1}`, `("${sha256}", "${sha1}")`, `${"a".repeat(64)},${md5},${sha1}`],
  [`sha1 ${sha1}`, `MD5: ${md5}\nSHA1: ${sha1}`, `setup.exe | ${sha1}`, `dropper|${sha1}`],
  ["domain evil.example.com", "US;evil.example.com;n/a", "192.0.2.0/24;evil.example.com"],
];

const unsent: Cells = [
  ["several", "192.0.2.1, 192.0.2.2", '["192.0.2.1", "192.0.2.2"]', "192.0.2.1、192.0.2.2"],
  ["several", "https://a.example.com/x\nhttps://b.example.com/y"],
  ["several", "http://a.example.com/,http://b.example.com/"],
  ["several", "http://a.example.com/|hxxp://b.example.com/"],
  ["several", "http://a.example.com/ 192.0.2.1", "login.example.com (192.0.2.1)"],
  ["several", "192.0.2.1 seen with 192.0.2.2", `${sha1}  ${"a".repeat(40)}`],
  ["several", "[ipv4-addr:value = '192.0.2.1' OR ipv4-addr:value = '192.0.2.2']"],
  ["several", "[ipv4-addr:value = '192.0.2.1'] OR [domain-name:value = 'example.com']"],
  ["several", "[ipv4-addr:value IN ('192.0.2.1', '192.0.2.2')]"],
  ["prose", "see: example.com and others", "visit example.com for more", "exam\nple.com"],
  ["prose", "evil.example.com, Inc.", "Example.com Incorporated", "4 Example.com Incorporated"],
  ["prose", "install.sh (dropper)"],
  ["text", "192.0.2.1:123456", "192.0.2.999", "AS64496", "build:install.sh"],
  ["text", "[ipv4-addr:value != '192.0.2.1']", "[file:name = 'a.com']"],
  ["text", "[url:value LIKE 'http://%.example.com/%']"],
  ["control_character", "exam\0ple.com", "http://example.com/\u0001", "http://exa\nmple.com/a"],
  ["control_character", "http://example.com/very-long-\nname.html"],
  ["control_character", "http://example.com/\ud800", "\udc00@example.com", "\ud83d"],
  ["path", "C:\\Windows\\example.exe", "C:\\Users\\example.com", "HKLM\\Software\\Example"],
  ["path", "/static/a.php?b=c", "//server/share"],
  ["internal_host", "http://10.1.2.3/login?token=1", "http://[fd00::1]/", "http://2130706433/"],
  ["internal_host", "http://wiki/a"],
  ["ip_range", "192.0.2.1-192.0.2.9", "192.0.2.1 - 192.0.2.9", "192.0.2.1 – 192.0.2.9"],
  ["ip_range", "192.0.2.1 to 192.0.2.9", "2001:db8::1-2001:db8::9"],
  ["cidr", "192.0.2.0/24", "192.0.2[.]0/24", "192.0.2.0/24 (scanners)"],
  ["cidr", "[ipv4-addr:value ISSUBSET '192.0.2.0/24']"],
  ["url_syntax", "http://<domain>/x", "http://exa mple.com/", "http://example.com:99999/"],
  ["url_scheme", "sftp://<host>/x", "magnet:?xt=urn:btih:x"],
  ["email_syntax", "user@localhost", "git@example.com:a/b.git"],
  ["file_name", "setup.exe", "3 setup.exe", "Filename: invoice.docm"],
  ["md5", md5],
  ["sha256", "E".repeat(64), `SHA256: ${sha256}`, `[file:hashes.'SHA-256' = '${sha256}']`],
  ["hex_length", sha1.slice(1)],
  ["ip_zone", "fe80::1%eth0"],
  ["ip_leading_zero", "192.000.002.001"],
  ["wallet_checksum", wallet.replace(/u$/, "v")],
  ["wildcard", "*.example.com", ".example.com"],
  ["unknown_suffix", "printer.local", "co.uk"],
];

describe.each([
  ["a cell is the item as it is written", itself],
  ["a cell with an item and a note is the item", noted],
  ["a cell with several values is the only item", listed],
  ["a cell is not sent for the reason", unsent],
])("%s", (_, cells) => {
  it.each(cells)("%s", (reading, ...texts) => {
    expect(texts.map((text) => [text, read(text)])).toEqual(texts.map((text) => [text, reading]));
  });
});

it.each([
  ["ip 192.0.2.1", "dst=192.0.2.1", '="192.0.2.1"', 'dst="192.0.2.1"', "src:192.0.2.1"],
  ["ip 192.0.2.1", "HIER_DIRECT/192.0.2.1", "root@192.0.2.1", "root@192.0.2.1:22 (brute force)"],
  ["ip 192.0.2.1", "tcp://192.0.2.1:4444", "x=jndi:ldap://192.0.2.1:1389/a"],
  ["ip 192.0.2.1", "::ffff:192.0.2.1:443"],
  ["ip 2001:db8::1", "ldap://[2001:db8::1]/a"],
  ["url http://example.com/a", "url='http://example.com/a'", "//example.com/a"],
  ["url http://example.com/a", "[example](http://example.com/a)"],
  ["email ann@example.com", "user=ann@example.com", "ann@example.com:secret"],
  ["domain example.com", "sftp://example.com/a", "ssh://ann:p@ss@example.com:22/"],
  ["domain example.com", "||example.com^", "||example.com^$third-party", "@@||example.com^"],
  ["domain example.com", "(\\.|^)example\\.com$", "^example\\.com$"],
])("in a log or a list, and in a text: %s", (reading, ...texts) => {
  const found = texts.map((text) => {
    const items: string[] = [];
    itemFinder()(`Seen: ${text}\n`, ({ item }) => items.push(`${item.kind} ${item.value}`));
    return [text, read(text), ...items];
  });
  expect(found).toEqual(texts.map((text) => [text, reading, reading]));
});

it("accepts a URL that just fits into 8 KiB once percent-encoded", () => {
  // "http%3A%2F%2Fexample.com%2F" has 27 characters.
  const url = `http://example.com/${"a".repeat(8192 - 27)}`;
  expect(read(url)).toBe(`url ${url}`);
  expect([read(`${url}a`), read("a b ".repeat(1 << 20))]).toEqual(["too_long", "too_long"]);
});

it("finds an item within a megabyte of white space", () => {
  const space = " ".repeat(1 << 20);
  expect(read(`${space}example.com${space}`)).toBe("domain example.com");
});

it.each([
  ["url", "example.com", "url http://example.com/"],
  ["url", "8.8.8.8", "url http://8.8.8.8/"],
  ["url", "example.com:8080", "url http://example.com:8080/"],
  ["domain", "example.com", "domain example.com"],
  ["ip", "192.0.2.1:80", "ip 192.0.2.1"],
  ["sha1", sha1, `sha1 ${sha1}`],
  // What is not of that kind is detected as usual.
  ["domain", "192.0.2.1", "ip 192.0.2.1"],
  ["crypto_wallet", sha1, `sha1 ${sha1}`],
  ["url", sha1, `sha1 ${sha1}`],
] as const)("told that a cell is a %s, reads %s as %s", (kind, text, reading) => {
  expect(read(text, kind)).toBe(reading);
});
