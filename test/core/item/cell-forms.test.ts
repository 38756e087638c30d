import { describe, expect, it } from "vitest";
import { recogniseItem } from "../../../src/core/item/recognise.js";
import { itemFinder } from "../../../src/jobs/extract/find-items.js";

const sha1 = "da39a3ee5e6b4b0d3255bfef95601890afd80709";
const sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

function read(text: string): string {
  const { item, reason } = recogniseItem(text);
  return item === null ? reason.code : `${item.kind} ${item.value}`;
}

describe("a cell is the item as it is written", () => {
  it.each([
    // To its end, whatever is in it.
    ["http://example.com/my file.exe", "url http://example.com/my%20file.exe"],
    ["http://example.com/a setup.exe", "url http://example.com/a%20setup.exe"],
    ["https://example.com/my archive.zip", "url https://example.com/my%20archive.zip"],
    ["ftp://example.com/a b c", "url ftp://example.com/a%20b%20c"],
    ["URL: http://example.com/a b", "url http://example.com/a%20b"],
    ["http://example.com/a (C2)", "url http://example.com/a%20(C2)"],
    ["http://example.com/a?b=c==", "url http://example.com/a?b=c=="],
    ["http://example.com/a__b__", "url http://example.com/a__b__"],
    ["http://example.com/it's,a;b|c", "url http://example.com/it's,a;b|c"],
    ['http://example.com/?q="a b"', "url http://example.com/?q=%22a%20b%22"],
    ["http://example.com/?q='a'", "url http://example.com/?q=%27a%27"],
    ["hxxp[:]//example[.]com/<a>", "url http://example.com/%3Ca%3E"],
    [`"http://example.com/?q='a'"`, "url http://example.com/?q=%27a%27"],
    ['"http://example.com/a"', "url http://example.com/a"],
    ['http://example.com/a""', "url http://example.com/a"],
    ["<http://example.com/a>", "url http://example.com/a"],
    ["http://example.com/a~-*_", "url http://example.com/a~-*_"],
    [
      "http://example.com/条目：子。页",
      "url http://example.com/%E6%9D%A1%E7%9B%AE%EF%BC%9A%E5%AD%90%E3%80%82%E9%A1%B5",
    ],
    ["example.com/a=b;c(d)", "url http://example.com/a=b;c(d)"],
    ["http://user:secret@example.com:8443/", "url http://example.com:8443/"],
    ["http://bücher.example.com/ä", "url http://xn--bcher-kva.example.com/%C3%A4"],
    // Local parts of mailing lists.
    ["bounce=ann=example.org@example.com", "email bounce=ann=example.org@example.com"],
    ["_dmarc.example.com", "domain _dmarc.example.com"],
    // Dashes, widths and what nobody sees.
    ["my‐host.example.com", "domain my-host.example.com"],
    ["my—host.example.com", "domain my-host.example.com"],
    ["http://my−host.example.com/a–b", "url http://my-host.example.com/a-b"],
    ["ann‑b@example.com", "email ann-b@example.com"],
    ["hxxps：／／example。com：8443／a", "url_syntax"],
    ["hxxps：／／example。com：8443/a", "url https://example.com:8443/a"],
    ["１９２．０．２．１", "ip 192.0.2.1"],
    ["ann＠example．com", "email ann@example.com"],
    ["exa\u00admple\u200b.com", "domain example.com"],
    ["http://example.com/a\u2060b", "url http://example.com/ab"],
    // Joiners are letters of some scripts.
    ["نامه\u200cای.com", "domain xn--mgba3gch31f060k.com"],
    // Mapped addresses are IPv4.
    ["::ffff:192.0.2.1", "ip 192.0.2.1"],
    ["0:0:0:0:0:FFFF:C000:0201", "ip 192.0.2.1"],
    ["[::ffff:192.0.2.1]:51234", "ip 192.0.2.1"],
    ["http://[::ffff:9.9.9.9]:8080/a", "url http://9.9.9.9:8080/a"],
    ["http://[0:0:0:0:0:ffff:909:909]/", "url http://9.9.9.9/"],
    ["http://[::ffff:10.0.0.1]/", "internal_host"],
    ["::ffff:192.0.2.0/120", "cidr"],
    // JSON's slashes.
    ["http:\\/\\/example.com\\/a", "url http://example.com/a"],
    // One bracket, backslashes.
    ["login[.example[.com", "domain login.example.com"],
    ["login.]example.]com", "domain login.example.com"],
    ["login\\.example\\.com", "domain login.example.com"],
    ["2001[:]db8[::]bad[:]1", "ip 2001:db8::bad:1"],
    // Brackets around the scheme.
    ["(hxxp://)example.com/a", "url http://example.com/a"],
    ["[hxxps]://example[.]com/a", "url https://example.com/a"],
    ["hxxp[s][:]//example.com/a", "url https://example.com/a"],
    // A sentence's marks.
    ["(192.0.2.1)", "ip 192.0.2.1"],
    ["[example.com]", "domain example.com"],
    ["192.0.2.1.", "ip 192.0.2.1"],
    ["https://cdn.example.net/a.bin。", "url https://cdn.example.net/a.bin"],
    ["• 192.0.2.1", "ip 192.0.2.1"],
    ["192.0.2.1?", "ip 192.0.2.1"],
    ["example.com?", "domain example.com"],
    ["（192.0.2.1）", "ip 192.0.2.1"],
    ["《example.com》", "domain example.com"],
    ["【example.com】", "domain example.com"],
    ["「http://example.com/a」", "url http://example.com/a"],
    ["\u061c192.0.2.1\u061c", "ip 192.0.2.1"],
    // Ports, as tools write them.
    ["192.0.2.1:443/tcp", "ip 192.0.2.1"],
    ["[2001:db8::1]:53/UDP", "ip 2001:db8::1"],
    ["example.com:53/udp", "domain example.com"],
    ["192.0.2.1#53", "ip 192.0.2.1"],
    ["2001:db8::1#50000", "ip 2001:db8::1"],
    ["192.0.2.1/50000", "ip 192.0.2.1"],
    ["192.0.2.0/24", "cidr"],
    ["example.com:8080/tcp/a", "url http://example.com:8080/tcp/a"],
    // What browsers open: a backslash ends the host.
    ["http://9.9.9.9\\@example.com/", "url http://9.9.9.9/@example.com/"],
    ["http://9.9.9.9\\:80@example.com/", "url http://9.9.9.9/:80@example.com/"],
    ["hxxp[:]//9[.]9[.]9[.]9\\.a@example.com/", "url http://9.9.9.9/.a@example.com/"],
    ["http:\\\\9.9.9.9\\_a@example.com/", "url http://9.9.9.9/_a@example.com/"],
    ["http://10.0.0.1\\@example.com/", "internal_host"],
    ["http://example\\.com\\:8443/a\\_b@c", "url http://example.com:8443/a_b@c"],
    ["hxxp[:]\\/\\/example[.]com\\/a", "url http://example.com/a"],
  ])("%j", (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  it.each([
    ["http://exa\nmple.com/a", "control_character"],
    ["http://example.com/very-long-\nname.html", "control_character"],
    ["exam\nple.com", "prose"],
    ["http://a.example.com/,http://b.example.com/", "several"],
    ["http://a.example.com/|hxxp://b.example.com/", "several"],
    ["http://a.example.com/ 192.0.2.1", "several"],
    // Lists as JSON, Python and PostgreSQL write them.
    ['["192.0.2.1"]', "ip 192.0.2.1"],
    ["['ann@example.com']", "email ann@example.com"],
    ["[u'ann@example.com',]", "email ann@example.com"],
    ['[ "http:\\/\\/example.com\\/a" ]', "url http://example.com/a"],
    [`("${sha256}", "${sha1}")`, `sha1 ${sha1}`],
    ["{ann@example.com,NULL}", "email ann@example.com"],
    ['["192.0.2.1", "192.0.2.2"]', "several"],
    ["http://exa mple.com/", "url_syntax"],
  ])("or is not sent: %j", (text, expected) => {
    expect(read(text)).toBe(expected);
  });
});

describe("a cell with an item and a note is the item", () => {
  it.each([
    ["Ann Example <ann@example.com>", "email ann@example.com"],
    ['"Example, Ann" <ann[@]example[.]com>', "email ann@example.com"],
    ["Ann Example (ann@example.com)", "email ann@example.com"],
    ["ann@example.com (Ann)", "email ann@example.com"],
    ["192.0.2.1 (C2)", "ip 192.0.2.1"],
    ["192.0.2.1（C2）", "ip 192.0.2.1"],
    ["192.0.2.1(C2)", "ip 192.0.2.1"],
    ["192.0.2.1 443", "ip 192.0.2.1"],
    ["192.0.2.1, 443", "ip 192.0.2.1"],
    // Numbered, marked and counted (`uniq -c`).
    ["1. 192.0.2.1", "ip 192.0.2.1"],
    ["2) example.com", "domain example.com"],
    ["- example.com", "domain example.com"],
    ["[+] 192.0.2.1", "ip 192.0.2.1"],
    ["1234 192.0.2.1", "ip 192.0.2.1"],
    ["   3 example.com", "domain example.com"],
    ["7 http://example.com/a (404)", "url http://example.com/a"],
    [`5 ${sha1}`, `sha1 ${sha1}`],
    ["3 example.com 192.0.2.1", "several"],
    // Another item behind the name of a field.
    ["src=192.0.2.1 spt=443 dst=198.51.100.7", "several"],
    ["192.0.2.1 port 443 request=http://example.com/a", "several"],
    ["192.0.2.1 - user root@198.51.100.7 - login", "several"],
    ["SRC=192.0.2.1 LEN=40 DST=192.0.2.1", "ip 192.0.2.1"],
    ["SRC=192.0.2.1 LEN=40 FILE=setup.exe", "ip 192.0.2.1"],
    ["4 Example.com Incorporated", "prose"],
    ["3 setup.exe", "file_name"],
    // A comment, not a part of the item.
    ["example.com#note", "domain example.com"],
    ["example.com#a/b", "domain example.com"],
    ["example.com# note", "domain example.com"],
    ["192.0.2.1#dns.example.net", "ip 192.0.2.1"],
    ["[2001:db8::1]:443#note", "ip 2001:db8::1"],
    ["example.com#note 192.0.2.1", "several"],
    ["example.com/a#b", "url http://example.com/a#b"],
    ["http://example.com#b", "url http://example.com/#b"],
    ["192.0.2.1:443 - loader", "ip 192.0.2.1"],
    ["192.0.2.1 # scanner", "ip 192.0.2.1"],
    ["192.0.2.1\tscanner", "ip 192.0.2.1"],
    ["192.0.2.1 | C2 of the loader.", "ip 192.0.2.1"],
    ["[2001:db8::1]:443 (C2)", "ip 2001:db8::1"],
    ["login.example.com (C2)", "domain login.example.com"],
    ["login[.]example[.]com – C2 of the loader", "domain login.example.com"],
    ["example.com 443", "domain example.com"],
    ["example.com/a(b) (C2)", "url http://example.com/a(b)"],
    ["http://example.com/a\tC2 of the loader", "url http://example.com/a"],
    ["IOC: login.example.com (C2)", "domain login.example.com"],
    [`a.exe\t${sha256}\t${sha1}  Loader, second stage.`, `sha1 ${sha1}`],
    // Checksums.
    [`${sha1}  Order Details.chm`, `sha1 ${sha1}`],
    [`${sha1} *2024 - Guide.chm`, `sha1 ${sha1}`],
    [`${sha1}  example.com`, `sha1 ${sha1}`],
    [`\\${sha1}  line\\nend.txt`, `sha1 ${sha1}`],
    [`SHA1 (Order (2) Details.chm) = ${sha1}`, `sha1 ${sha1}`],
    [`${sha256}  Order Details.chm`, "sha256"],
    // STIX patterns.
    ["[ipv4-addr:value = '192.0.2.1']", "ip 192.0.2.1"],
    ["[ipv6-addr:value='2001:db8::1']", "ip 2001:db8::1"],
    [
      "[url:value = 'http://cdn.example.net/it\\'s a.bin']",
      "url http://cdn.example.net/it's%20a.bin",
    ],
    ["[domain-name:value = 'login.example.com']", "domain login.example.com"],
    ["[email-message:from_ref.value = 'ann@example.com']", "email ann@example.com"],
    [`[file:hashes.'SHA-1' = '${sha1}']`, `sha1 ${sha1}`],
    [`[file:hashes.SHA1 = '${sha1}' AND file:name = 'example.com']`, `sha1 ${sha1}`],
    [
      "[network-traffic:dst_ref.value = '192.0.2.11' AND network-traffic:dst_port = 443]",
      "ip 192.0.2.11",
    ],
    ["[ipv4-addr:value = '192.0.2.1'] OR [ipv4-addr:value = '192.0.2.1']", "ip 192.0.2.1"],
  ])("%j", (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  it.each([
    ["dst=192.0.2.1", "ip 192.0.2.1"],
    ['="192.0.2.1"', "ip 192.0.2.1"],
    ['dst="192.0.2.1"', "ip 192.0.2.1"],
    ["url='http://example.com/a'", "url http://example.com/a"],
    ["src:192.0.2.1", "ip 192.0.2.1"],
    ["user=ann@example.com", "email ann@example.com"],
    ["HIER_DIRECT/192.0.2.1", "ip 192.0.2.1"],
    ["root@192.0.2.1", "ip 192.0.2.1"],
    ["root@192.0.2.1:22 (brute force)", "ip 192.0.2.1"],
    ["ann@example.com:secret", "email ann@example.com"],
    ["sftp://example.com/a", "domain example.com"],
    ["tcp://192.0.2.1:4444", "ip 192.0.2.1"],
    ["ssh://ann:p@ss@example.com:22/", "domain example.com"],
    ["ldap://[2001:db8::1]/a", "ip 2001:db8::1"],
    ["//example.com/a", "url http://example.com/a"],
    ["||example.com^", "domain example.com"],
    ["||example.com^$third-party", "domain example.com"],
    ["@@||example.com^", "domain example.com"],
    ["(\\.|^)example\\.com$", "domain example.com"],
    ["^example\\.com$", "domain example.com"],
    ["[example](http://example.com/a)", "url http://example.com/a"],
    ["x=jndi:ldap://192.0.2.1:1389/a", "ip 192.0.2.1"],
    ["::ffff:192.0.2.1:443", "ip 192.0.2.1"],
  ])("in a log or a list, and in a text: %j", (text, expected) => {
    const found: string[] = [];
    itemFinder()(`Seen: ${text}\n`, ({ item }) => found.push(`${item.kind} ${item.value}`));
    expect([read(text), ...found]).toEqual([expected, expected]);
  });

  it.each([
    ["email_syntax", ["git@example.com:a/b.git"]],
    ["url_syntax", ["http://example.com:99999/"]],
    ["path", ["//server/share", "C:\\Users\\example.com"]],
    [
      "several",
      [
        "[ipv4-addr:value = '192.0.2.1' OR ipv4-addr:value = '192.0.2.2']",
        "[ipv4-addr:value = '192.0.2.1'] OR [domain-name:value = 'example.com']",
        "[ipv4-addr:value IN ('192.0.2.1', '192.0.2.2')]",
        `${sha1}  ${"a".repeat(40)}`,
        "192.0.2.1、192.0.2.2",
        "login.example.com (192.0.2.1)",
        "192.0.2.1 seen with 192.0.2.2",
      ],
    ],
    ["cidr", ["[ipv4-addr:value ISSUBSET '192.0.2.0/24']", "192.0.2.0/24 (scanners)"]],
    ["sha256", [`[file:hashes.'SHA-256' = '${sha256}']`]],
    ["ip_range", ["192.0.2.1 - 192.0.2.9", "192.0.2.1 – 192.0.2.9", "192.0.2.1 to 192.0.2.9"]],
    ["text", ["build:install.sh", "[ipv4-addr:value != '192.0.2.1']", "[file:name = 'a.com']"]],
    ["text", ["[url:value LIKE 'http://%.example.com/%']"]],
    ["prose", ["example.com, Inc.", "Example.com Incorporated", "install.sh (dropper)"]],
    ["prose", ["visit example.com for more"]],
  ])("but not what is %s: %j", (code, texts) => {
    expect(texts.map(read)).toEqual(texts.map(() => code));
  });
});
