import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { itemFinder } from "../../../src/jobs/extract/find-items.js";

/** The texts of a set, with what was found in them and what should have been. */
function readSet(name: string) {
  const folder = join(import.meta.dirname, name);
  const findItems = itemFinder();
  return readdirSync(folder)
    .filter((file) => !file.endsWith(".expected"))
    .map((file) => {
      const found = new Set<string>();
      findItems(readFileSync(join(folder, file), "utf8"), ({ item }) => found.add(item.value));
      const labels = readFileSync(join(folder, file.replace(/\.\w+$/, ".expected")), "utf8");
      return { found, meant: new Set(labels.split("\n").filter((line) => line !== "")) };
    });
}

// The texts of "held-out" were written and labelled without the rules at hand.
it.each([
  ["corpus", 0.97, 0.97],
  ["held-out", 0.9, 0.97],
  ["files-and-hosts", 1, 1],
])("finds nearly all items of the set %s, and hardly anything else", (name, precise, complete) => {
  const texts = readSet(name);
  const sum = (count: (text: (typeof texts)[number]) => number) =>
    texts.reduce((total, text) => total + count(text), 0);
  const hits = sum(({ found, meant }) => [...found].filter((item) => meant.has(item)).length);
  const precision = hits / sum(({ found }) => found.size);
  const recall = hits / sum(({ meant }) => meant.size);
  const without = (items: ReadonlySet<string>, others: ReadonlySet<string>) =>
    [...items].filter((item) => !others.has(item));
  const wrong = texts.flatMap(({ found, meant }) => without(found, meant));
  const missed = texts.flatMap(({ found, meant }) => without(meant, found));
  const faults = `wrong: ${wrong.join(" ")}; missed: ${missed.join(" ")}`;
  expect([precision >= precise, recall >= complete], faults).toEqual([true, true]);
});

function itemsIn(text: string): readonly string[] {
  const found: string[] = [];
  itemFinder()(text, ({ item }) => found.push(item.value));
  return found;
}

it.each([
  ["first.example.com\n\nsecond.example.com", ["first.example.com 0", "second.example.com 2"], 2],
  ['{"a": "x\\u000ay.example.com"}\n"z.example.com"\n', ["y.example.com 0", "z.example.com 1"], 2],
  [
    '"http://a.example.com/b,c"\nd.example.com\n',
    ["http://a.example.com/b,c 0", "d.example.com 1"],
    2,
  ],
])("tells the lines of %j", (text, items, lineEnds) => {
  const found: string[] = [];
  const lines = itemFinder()(text, ({ item }, line) => found.push(`${item.value} ${line}`));
  expect([found, lines]).toEqual([items, lineEnds]);
});

it.each<[string, ...string[]]>([
  ["visit a.example.net?x=1 today", "http://a.example.net/?x=1"],
  ["q=a.example.net?x=1&y=2", "http://a.example.net/?x=1&y=2"],
  ["x=${jndi:ldap://203.0.113.9:1389/a}", "203.0.113.9"],
  ["client @0x1 203.0.113.9#4242", "203.0.113.9"],
  ["dst outside:203.0.113.9/60001", "203.0.113.9"],
  ["Host:203.0.113.9", "203.0.113.9"],
  ["dst outside:9.9.9.9/60001", "9.9.9.9"],
  ["host[.example.net", "host.example.net"],
  ["hxxps[://]a.example.net/?b=c", "https://a.example.net/?b=c"],
  ["a.example.net:8080/b?c=d&e=f", "http://a.example.net:8080/b?c=d&e=f"],
  ["url=a[.]example.net/b?c=d", "http://a.example.net/b?c=d"],
  ["/a.php?host=a.example.net", "a.example.net"],
  ["path=index.php/redirect?url=a.example.net", "a.example.net"],
  ["seen at sidecar.ml", "sidecar.ml"],
  ["at http://a.example.net/?b=1&amp;c=2", "http://a.example.net/?b=1&amp;c=2"],
  // An item ends where it ends, not at what may separate others.
  ["see http://a.example.net/it's,b|c today", "http://a.example.net/it's,b|c"],
  ["seen a.example.net/b=c;d(e) today", "http://a.example.net/b=c;d(e)"],
  ["at http://a.example.net/b__c__ today", "http://a.example.net/b__c__"],
  ["__http://a.example.net/b__", "http://a.example.net/b"],
  ["__Source: http://a.example.net/b__", "http://a.example.net/b"],
  ["at http://a.example.net/b\\_c\\_d\\=e", "http://a.example.net/b_c_d=e"],
  ["at http://a.example.net/b。", "http://a.example.net/b"],
  ["mail from=ann@a.example.net", "ann@a.example.net"],
  ["client ::ffff:9.9.9.9", "9.9.9.9"],
  ["client [::ffff:909:909]:443", "9.9.9.9"],
  ["http://[::ffff:9.9.9.9]/b", "http://9.9.9.9/b"],
  ["tcp 0 ::ffff:9.9.9.9:443", "9.9.9.9"],
  // Browsers read the backslash as a slash.
  ["at http://9.9.9.9\\@a.example.net/b,c today", "http://9.9.9.9/@a.example.net/b,c"],
  ["„hxxp[:]//9[.]9[.]9[.]9\\a@a.example.net“", "http://9.9.9.9/a@a.example.net"],
  ["http://a.example.net/b,9.9.9.9", "http://a.example.net/b", "9.9.9.9"],
  ["at http://a.example.net/b,example.org/c", "http://a.example.net/b", "http://example.org/c"],
  [
    "at http://a.example.net/b;http://c.example.net/d",
    "http://a.example.net/b",
    "http://c.example.net/d",
  ],
  ["1|http://a.example.net/b|malware", "http://a.example.net/b"],
  ["1, http://a.example.net/b,malware", "http://a.example.net/b"],
  [
    "访问https://a.example.com/b下载，再连c.example.net。",
    "https://a.example.com/b",
    "c.example.net",
  ],
  ["样本连接a.example.com和「b.example.org」です", "a.example.com", "b.example.org"],
  ["IP：192.0.2.10、192.0.2.11（端口443）", "192.0.2.10", "192.0.2.11"],
  ["접속 주소는 a.example.co.kr에서 확인", "a.example.co.kr"],
  ["問い合わせはann@example.jpまで", "ann@example.jp"],
  ["http://a.example.com/下载/b", "http://a.example.com/%E4%B8%8B%E8%BD%BD/b"],
  ['msg="http:\\/\\/a.example.com\\/b"', "http://a.example.com/b"],
  ['{\\"u\\":\\"http:\\\\/\\\\/a.example.com\\\\/b\\"}', "http://a.example.com/b"],
  ["u=http:\\u002f\\u002fa.example.com\\u002fb", "http://a.example.com/b"],
  ["'\\x68ttp\\x3a\\x2f\\x2fa.example.com\\x2fb'", "http://a.example.com/b"],
  ["@@||a-b.zip^", "a-b.zip"],
  ["|http://a.example.com/b^|", "http://a.example.com/b"],
  ["a.example.com##.banner", "a.example.com"],
  ["address=/a.example.com/b.example.com/0.0.0.0", "a.example.com", "b.example.com"],
  ["server=/a-b.rs/", "a-b.rs"],
  ["local=/a.example.com/", "a.example.com"],
  ["0.0.0.0 a.example.com b-c.app", "a.example.com", "b-c.app"],
  ['local-zone: "a.example.com." static', "a.example.com"],
  ["git@a.example.com:b/c.git"],
  ["'o'neil@example.com', 'a@example.com'", "o'neil@example.com", "a@example.com"],
  ["Pat's o'neil@example.com's", "o'neil@example.com"],
  ["l'adresse d'info@example.com, qu’alerte@example.org", "info@example.com", "alerte@example.org"],
  ["DOE^JANE|||^NET^Internet^jane@example.com||", "jane@example.com"],
  ["b'a@example.com' + x='b@example.com'", "a@example.com", "b@example.com"],
  ["['a@example.com','b@example.com']", "a@example.com", "b@example.com"],
  [
    "user=a@example.com|b@example.com {c@example.com}",
    "a@example.com",
    "b@example.com",
    "c@example.com",
  ],
  // No item.
  ["Reader 11.0.0.23"],
  ["firmware 1.0.4.12, 1.0.4.18 and 2.0.0.7"],
  ["nginx/1.25.3.1"],
  ["network 203.0.113.0/24"],
  ["self.state.live"],
  ["format.read"],
  ['<svg xmlns="http://www.w3.org/2000/svg">'],
  ["cid:logo@a.example.com"],
  // Members and releases.
  ["2015-01-30 (3.8.8.2)"],
  ["* 2026-03-01 (2.4.1.7): fixes"],
  ["Redirected(data.raw, data.id, data.url)"],
  ['join(dir, "prebuilds", tuple.name))'],
  ['raise Error("found %r" % token.id, token.start_mark)'],
  ["lookup[(cookie.domain, cookie.path, cookie.name)] = None"],
])("finds the items of %j", (text, ...items) => {
  expect(itemsIn(text)).toEqual(items);
  expect(itemsIn(`See: ${text}\n`)).toEqual(items);
});

// Endings of countries and newer domains that files have, too: hosts unless the text says file or code.
it.each([
  ["Victims went to pay-now.pl yesterday.", true],
  ["Cards were sold on pay-now.cc for years.", true],
  ["We have seen pay-now.sh since Monday.", true],
  ["Mails lead to pay-now.rs and pay-now.app.", true],
  ["Fri 10:02:11 deny_all 192.0.2.7 -> pay-now.zip #12 in_use(3)", true],
  ["0.0.0.0 pay-now.so # a_b c_d e_f", true],
  ["#11 fetch_all(): the domain pay-now.md, c_d", true],
  ["Sites\n\npay-now.py\npay-now.java\n", true],
  ["Seen: pay[.]now.ps, in a_b(c_d) #14", true],
  // Entries of changes, comments, code and its documentation.
  ["- pay-now.pl: say what is wrong", false],
  ["# pay-now.py - reads the list", false],
  ["When `pay-now.sh` is done, begin.", false],
  ["The page in pay-now.md is new.", false],
  ["See [pay-now.md](a) and [pay-now.rs]: b", false],
  ['The new "pay-now.py" takes more.', false],
  ["Fixes #12, #14 with pay-now.sh --force", false],
  ["thread panicked at pay-now.rs:42", false],
  ["beacons to pay-now.rs:8443", true],
  ["see pay-now.md#usage", false],
  ["* gcc/pay-now.cc (pay_now): New function.", false],
  ["* pay-now.am: Install the pages.", false],
  ["Let lib/core.c, src/main.c and pay-now.ps be.", false],
  ["Set\n.B pay\\-now.so\n.B a\n.B c\n", false],
])("tells whether a host is in %j", (text, expected) => {
  expect(itemsIn(`${text}\n`).some((item) => item.startsWith("pay"))).toBe(expected);
});

// RFC 5322, section 3.2.3.
it.each("!#$%&'*+-?^_~’".split(""))("reads %s in the name of a mailbox", (char) => {
  const address = `a${char}b@example.com`;
  expect(itemsIn(`See '${address}', (${address}).\n`)).toEqual([address, address]);
});

it("tells what it leaves out as file, version, code or internal host", () => {
  const leftOut: string[] = [];
  const text =
    "Open main.rs and self.id in version 1.2.3.4; 0.0.0.0 a.example.com\n" +
    "10.0.0.5, http://ann:pass@10.0.0.5/a, 192.168.1.1:8080/b, http://a.example.com/c\n";
  const found: string[] = [];
  itemFinder()(
    text,
    ({ item }) => found.push(item.value),
    (word) => leftOut.push(word),
  );
  const inside = ["http://10.0.0.5/a", "http://192.168.1.1:8080/b"];
  expect(leftOut).toEqual(["main.rs", "self.id", "1.2.3.4", ...inside]);
  expect(found).toEqual(["a.example.com", "10.0.0.5", "http://a.example.com/c"]);
});

it("keeps items, and not the text around them", () => {
  setFlagsFromString("--expose-gc");
  const heapUsed = (): number => {
    runInNewContext("gc")();
    return process.memoryUsage().heapUsed;
  };
  const found: string[] = [];
  const find = itemFinder();
  const before = heapUsed();
  for (let number = 0; number < 64; number++) {
    const prose = "some words of a text\n".repeat(50_000);
    find(`${prose}at host-${number}.example.com\n`, ({ item }) => found.push(item.value));
  }
  expect(found).toHaveLength(64);
  expect(heapUsed() - before).toBeLessThan(16 * 1024 * 1024);
});
