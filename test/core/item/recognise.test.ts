import { describe, expect, it } from "vitest";
import { recogniseItem } from "../../../src/core/item/recognise.js";

const sha1 = "da39a3ee5e6b4b0d3255bfef95601890afd80709";
const wallet = "16L5yRNPTuciSgXGHqYwn9N6NeoKqopAu";
const item = (text: string) => recogniseItem(text).item;
const reason = (text: string) => recogniseItem(text).reason?.code;

describe("recogniseItem", () => {
  it.each([
    ["ip", "192.0.2.1", "192.0.2.1"],
    ["ip", " 192[.]0[.]2[.]1:443 ", "192.0.2.1"],
    ["domain", `"Example[.]COM",`, "example.com"],
    ["url", "<http://8.8.8.8/x>", "http://8.8.8.8/x"],
    ["url", "8.8.8[.]8/x", "http://8.8.8.8/x"],
    ["sha1", sha1.toUpperCase(), sha1],
    ["email", "User [at] example [dot] com", "User@example.com"],
    ["crypto_wallet", ` ${wallet},`, wallet],
    ["ip", "?192.0.2.1", "192.0.2.1"],
    ["ip", "C2 IP: 192.0.2.1", "192.0.2.1"],
    ["url", `? url:"hxxp://example[.]com/a"`, "http://example.com/a"],
    ["url", "URL:http://example.com/,/", "http://example.com/,/"],
    ["crypto_wallet", `BTC: ${wallet}`, wallet],
  ])("recognises %s in %j", (kind, text, value) => {
    expect(recogniseItem(text)).toEqual({ item: { kind, value }, reason: null });
  });

  it.each([
    ["empty", [` "" `]],
    ["md5", ["d41d8cd98f00b204e9800998ecf8427e"]],
    ["sha256", ["E".repeat(64), `SHA256: ${"e".repeat(64)}`]],
    ["prose", ["see: example.com and others", "evil.example.com, Inc."]],
    ["hex_length", [sha1.slice(1)]],
    ["cidr", ["192.0.2[.]0/24"]],
    ["ip_range", ["192.0.2.1-192.0.2.9", "2001:db8::1-2001:db8::9"]],
    ["ip_zone", ["fe80::1%eth0"]],
    ["ip_leading_zero", ["192.000.002.001"]],
    ["wallet_checksum", [wallet.replace(/u$/, "v")]],
    ["several", ["192.0.2.1, 192.0.2.2", "https://a.example.com/x\nhttps://b.example.com/y"]],
    ["url_syntax", ["http://<domain>/x"]],
    ["url_scheme", ["sftp://<host>/x", "magnet:?xt=urn:btih:x"]],
    ["path", ["C:\\Windows\\example.exe", "/static/a.php?b=c", "HKLM\\Software\\Example"]],
    ["email_syntax", ["user@localhost"]],
    ["file_name", ["setup.exe", "Filename: invoice.docm"]],
    ["wildcard", ["*.example.com", ".example.com"]],
    ["unknown_suffix", ["printer.local", "co.uk"]],
    ["text", ["192.0.2.1:123456", "192.0.2.999", "AS64496"]],
    ["control_character", ["exam\0ple.com", "http://example.com/\u0001", "http://exa\nmple.com/"]],
    ["control_character", ["http://example.com/\ud800", "\udc00@example.com", "\ud83d"]],
    ["too_long", ["a b ".repeat(1 << 20)]],
    [
      "internal_host",
      ["http://10.1.2.3/login?token=1", "http://[fd00::1]/", "http://2130706433/", "http://wiki/a"],
    ],
  ])("gives the reason %s", (code, texts) => {
    expect(texts.map(reason)).toEqual(texts.map(() => code));
  });

  it("accepts a URL that just fits into 8 KiB once percent-encoded", () => {
    // "http%3A%2F%2Fexample.com%2F" has 27 characters.
    const url = `http://example.com/${"a".repeat(8192 - 27)}`;
    expect(item(url)?.value).toBe(url);
    expect(reason(`${url}a`)).toBe("too_long");
  });

  it("finds an item within a megabyte of white space", () => {
    const space = " ".repeat(1 << 20);
    expect(item(`${space}example.com${space}`)?.value).toBe("example.com");
  });
});

describe("recogniseItem with a kind", () => {
  it.each([
    ["url", "example.com", "http://example.com/"],
    ["url", "8.8.8.8", "http://8.8.8.8/"],
    ["url", "example.com:8080", "http://example.com:8080/"],
    ["domain", "example.com", "example.com"],
    ["ip", "192.0.2.1:80", "192.0.2.1"],
    ["sha1", sha1, sha1],
  ] as const)("reads the %s that it is told: %s", (kind, text, value) => {
    expect(recogniseItem(text, kind)).toEqual({ item: { kind, value }, reason: null });
  });

  it.each([
    ["domain", "192.0.2.1", "ip"],
    ["crypto_wallet", sha1, "sha1"],
    ["url", sha1, "sha1"],
  ] as const)("detects as usual what is no %s: %s", (told, text, kind) => {
    expect(recogniseItem(text, told).item?.kind).toBe(kind);
  });
});

it.each([
  [`${"a".repeat(64)},d41d8cd98f00b204e9800998ecf8427e,${sha1}`, sha1],
  [`MD5: d41d8cd98f00b204e9800998ecf8427e\nSHA1: ${sha1}`, sha1],
  [`setup.exe | ${sha1}`, sha1],
  [`dropper|${sha1}`, sha1],
  ["192.0.2.1;192.0.2.1", "192.0.2.1"],
  ["192.0.2.1|8080", "192.0.2.1"],
  ["US;evil.example.com;n/a", "evil.example.com"],
  ["192.0.2.0/24;evil.example.com", "evil.example.com"],
])("takes the only item of several values: %j", (text, value) => {
  expect(item(text)?.value).toBe(value);
});
