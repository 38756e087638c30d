import { expect, it } from "vitest";
import { readSha1 } from "../../../src/core/item/detect.js";
import { readDomain, readEmail } from "../../../src/core/item/hostname.js";
import { isBogon, readIp } from "../../../src/core/item/ip.js";
import { itemKinds, parseKindName } from "../../../src/core/item/item.js";
import { isEmptyCell, recogniseItem } from "../../../src/core/item/recognise.js";
import { refang, strip } from "../../../src/core/item/refang.js";
import { isInternalHost, isNetwork, readUrl } from "../../../src/core/item/url.js";

/** Texts with what each is read as; null for nothing. */
type Readings = Readonly<Record<string, string | null>>;

const all = <Value>(texts: readonly string[] | string, valueOf: (text: string) => Value) =>
  Object.fromEntries(
    (typeof texts === "string" ? texts.split(" ") : texts).map((text) => [text, valueOf(text)]),
  );
const same = (texts: string) => all(texts, (text) => text);
const nothing = (...texts: readonly string[]) => all(texts, () => null);

const sha1 = "da39a3ee5e6b4b0d3255bfef95601890afd80709";

const readers: readonly (readonly [string, (text: string) => string | null, Readings])[] = [
  [
    "an address",
    readIp,
    {
      ...same("0.0.0.0 192.0.2.1 198.51.100.255 255.255.255.255"),
      "192.0.2.1:8080": "192.0.2.1",
      "192.0.2.1: 443": "192.0.2.1",
      "[2001:db8::1]:443": "2001:db8::1",
      // RFC 5952, section 4: no leading zeros; "::" for the longest run of zeros, the first of equal
      // runs, never for a single zero; lower case.
      "2001:0DB8:0000:0000:0000:0000:0000:0001": "2001:db8::1",
      "2001:db8:0:0:1:0:0:1": "2001:db8::1:0:0:1",
      "2001:db8::1:1:1:1:1": "2001:db8:0:1:1:1:1:1",
      "2001:0:0:1:0:0:0:1": "2001:0:0:1::1",
      "0:0:0:0:0:0:0:1": "::1",
      "2001:db8::192.0.2.33": "2001:db8::c000:221",
      ...all(
        "::ffff:192.0.2.1 ::FFFF:C000:0201 0:0:0:0:0:ffff:192.0.2.1 [::ffff:192.0.2.1]:443 [192.0.2.1]:443",
        () => "192.0.2.1",
      ),
      // Other addresses with an IPv4 address in them stay what they are.
      "::192.0.2.1": "::c000:201",
      "::ffff:0:192.0.2.1": "::ffff:0:c000:201",
      "64:ff9b::192.0.2.1": "64:ff9b::c000:201",
      ...same("2002:c000:201::1"),
      ...nothing("192.0.02.1", "192.0.2.256", "192.0.2.0/24", "192.0.2.1:123456", "3221225985"),
      ...nothing("fe80::1%eth0", "2001::db8::1", "[192.0.2.1]", "[2001:db8::1", ""),
    },
  ],
  [
    "a URL",
    (text) => readUrl(text, false),
    {
      "http://example.com": "http://example.com/",
      "HTTPS://EXAMPLE.COM/A": "https://example.com/A",
      "https://example.com:443/a/../b?c=d#e": "https://example.com/b?c=d#e",
      "https:/example.com/a": "https://example.com/a",
      "http://[2001:DB8:0:0::1]/x": "http://[2001:db8::1]/x",
      "http://bücher.example.com/ä": "http://xn--bcher-kva.example.com/%C3%A4",
      ...same("http://example.com/#[email]"),
      // Without user name and password, but with the fragment.
      "https://login.example.com@example.net/#user@example.org":
        "https://example.net/#user@example.org",
      "ftp://user:p%40ss@example.net/a@b": "ftp://example.net/a@b",
      // http:// is assumed.
      "example.com/a.php": "http://example.com/a.php",
      "example.com?a=b": "http://example.com/?a=b",
      "192.0.2.1/33": "http://192.0.2.1/33",
      "[2001:db8::1]:8080/a": "http://[2001:db8::1]:8080/a",
      "example.com/@user.name": "http://example.com/@user.name",
      // Parsing creates a defanged token.
      "http://example.com/a[/./]b": "http://example.com/a/b",
      "http://example.com/a[\\]b": "http://example.com/a/b",
      ...nothing("example.com", "192.0.2.0/24", "192.0.2.0/24;example.com", "server.local/a"),
      ...nothing("C:\\example.com\\a", "sftp://example.com/a", "http://exa mple.com/"),
      ...nothing("http://xn--a.example.com/", "http://192.0.2.256/", "user@example.com/a"),
    },
  ],
  [
    "a URL by its label",
    (text) => readUrl(text, true),
    { "example.com": "http://example.com/", "192.0.2.1:8080": "http://192.0.2.1:8080/" },
  ],
  [
    "a domain",
    (text) => readDomain(text, false),
    {
      ...same("example.com examplepages.github.io expyuzz4wqqyqhjn.onion r1---sn-.example.com"),
      ...same("install.sh archive.zip get.example.sh example.so xn--bcher-kva.example.com"),
      "WWW.Example.COM": "www.example.com",
      "example.com.": "example.com",
      "example.com:8443": "example.com",
      "bücher.example.com": "xn--bcher-kva.example.com",
      "example。com": "example.com",
      ...nothing("setup.exe", "printer.local", "co.uk", "localhost", "example..com", "192.0.2.1"),
      ...nothing("my_example.com", "xn--a.example.com", "exam ple.com", "example. com"),
      ...nothing("example.com/a", "example.com:http", `${"a".repeat(64)}.example.com`),
      ...nothing(`${"a.".repeat(122)}example.com`),
    },
  ],
  ["a domain by its label", (text) => readDomain(text, true), { "example. com": "example.com" }],
  [
    "an e-mail address",
    readEmail,
    {
      ...same("user@example.com üser@example.com"),
      "First.Last+Tag@EXAMPLE.Com": "First.Last+Tag@example.com",
      "user@bücher.example.com": "user@xn--bcher-kva.example.com",
      "mailto:User@example.com": "User@example.com",
      "mailto:'user@example.com'": "user@example.com",
      ...nothing("@example.com", "user@localhost", "user@[192.0.2.1]", "first last@example.com"),
      ...nothing(`"first last"@example.com`, "user@example.com:25"),
      ...nothing(`${"a".repeat(300)}@example.com`),
    },
  ],
  [
    "a SHA1 hash",
    readSha1,
    {
      ...all([sha1, sha1.toUpperCase(), `sha1:${sha1}`, `SHA-1: ${sha1}`], () => sha1),
      ...nothing(sha1.slice(1), `${sha1}0`, `g${sha1.slice(1)}`, `md5:${sha1}`, `0x${sha1}`),
    },
  ],
  [
    "a defanged text",
    refang,
    {
      "hxxp://example.com": "http://example.com",
      "hXXpS://example.com": "https://example.com",
      "192.0.2[.]1": "192.0.2.1",
      ...all(
        "example{.}com example[dot]com example[[.]]com example[(dot)]com",
        () => "example.com",
      ),
      "example[.] com": "example.com",
      "hxxp[:]//example[.]com": "http://example.com",
      "hxxps[://]example[.]com[/]a": "https://example.com/a",
      "user[@]example[.]com": "user@example.com",
      "user(at)example.com": "user@example.com",
      "user [at] example [dot] com": "user@example.com",
      "2001[:]db8[:][:]1": "2001:db8::1",
      ...same("https://example.com/#[email] example[.)com example(:)com"),
      ...same("https://example.com/?next=hxxps://example.net/"),
      // In linear time.
      [`${"[".repeat(30_000)}.${"]".repeat(30_000)}`]: ".",
    },
  ],
  [
    "what surrounds a value",
    strip,
    {
      " \t192.0.2.1\r\n": "192.0.2.1",
      "\ufeff\u200bexample.com\u200e": "example.com",
      '"example.com"': "example.com",
      "<https://example.com/>": "https://example.com/",
      "example.com,,": "example.com",
      ' "<example.com>", ': "example.com",
      // The inside stays, and so does a leading comma, which does not separate values.
      'a "b", <c> d': 'a "b", <c> d',
      ...same(",example.com"),
    },
  ],
  [
    "the name of a kind",
    parseKindName,
    {
      ...all(
        "ip ipv4 IPv6 ip-dst ip-src ip_port ip:port ip-dst|port ipv4-addr ip_address address",
        () => "ip",
      ),
      ...all("domain hostname fqdn domain-name domain_port Host", () => "domain"),
      ...all("url URI link Url", () => "url"),
      ...all("sha1 SHA-1 sha_1 SHA1 sha1_hash FileHash-SHA1", () => "sha1"),
      ...all("email e-mail email-src email-dst email-addr mail", () => "email"),
      ...all(
        "wallet btc xmr monero_address Cryptocurrency-Wallet ETH ltc Solana USDT tron_address",
        () => "crypto_wallet",
      ),
      ...all(itemKinds, (kind) => kind),
      ...nothing("sha256", "filename", "", "constructor", "ip".padEnd(1_000_000)),
    },
  ],
];

it.each(readers)("reads %s", (_, read, readings) => {
  expect(all(Object.keys(readings), read)).toEqual(readings);
});

it.each([
  [
    "a bogon",
    isBogon,
    "10.0.0.1 100.64.0.1 169.254.0.1 172.16.0.1 192.0.2.1 192.168.0.1 198.18.0.1 224.0.0.1 255.255.255.255 :: ::1 ::ffff:198.51.100.1 64:ff9b::a00:1 2002:a00:1::1 2001:db8::1 4000::1 fc00::1 fe80::1 ff02::1",
    "11.0.0.0 100.128.0.0 172.32.0.0 192.0.0.9 192.175.48.1 64:ff9b::102:304 2001:1::1 2001:4860::1 2002:102:304::1",
  ],
  [
    "a network",
    isNetwork,
    "192.0.2.0/24 192.0.2.0/255.255.255.0 2001:db8::/32 ::/0",
    "192.0.2.0/33 192.0.2.0/a 192.0.2.0 2001:db8::/129 example.com/24",
  ],
  [
    "an internal host",
    isInternalHost,
    "10.1.2.3 192.168.0.1 127.0.0.1 ::1 fd00::1 ::ffff:10.1.2.3 intranet localhost nas.local com",
    "8.8.8.8 2606:4700::1111 example.com co.uk a.example",
  ],
] as const)("tells what is %s", (_, test, yes, no) => {
  const expected = { ...all(yes, () => true), ...all(no, () => false) };
  expect(all(Object.keys(expected), test)).toEqual(expected);
});

const dashes = "- -- --- – — −".split(" ");
const words =
  "N/A n/a none NONE None null NULL nil unknown Unknown n/d N/D ? ??? NA #N/A NaN undefined (null)";
const wrapped = `<none> 'null' “unknown” N/A, "" `.split(" ");
const spaced = [" ", " \u200b\ufeff", " - ", "\tn/a\t"];

it.each([
  [true, [...dashes, ...words.split(" "), ...wrapped, ...spaced]],
  [false, "none.example.com unknown@example.com nil.to 0 . -.com na.example.com".split(" ")],
])("tells what is an empty cell (%j)", (isEmpty, texts) => {
  const expected = all(texts, () => isEmpty);
  expect(all(texts, isEmptyCell)).toEqual(expected);
  expect(all(texts, (text) => recogniseItem(text).reason?.code === "empty")).toEqual(expected);
});
