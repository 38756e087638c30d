import fc from "fast-check";
import { expect, it } from "vitest";
import { isBogon } from "../../../src/core/item/ip.js";
import { itemKinds } from "../../../src/core/item/item.js";
import { recogniseItem } from "../../../src/core/item/recognise.js";
import { refang } from "../../../src/core/item/refang.js";
import { itemFinder } from "../../../src/jobs/extract/find-items.js";
import { anyText } from "../../helpers/any-text.js";
import { randomRounds } from "../../helpers/random-rounds.js";

const octet = fc.integer({ min: 11, max: 250 });
const ipv4 = fc
  .tuple(octet, octet, octet, octet)
  .map((octets) => octets.join("."))
  .filter((ip) => !isBogon(ip));
const group = fc.integer({ min: 0x1000, max: 0xffff }).map((value) => value.toString(16));
const ipv6 = fc
  .array(group, { minLength: 3, maxLength: 5 })
  .map((groups) => `2001:${groups.join(":")}::1`);
const shortV6 = group.map((value) => `2620::${value}`);
const mapped = fc
  .tuple(ipv4, fc.constantFrom("", ":443"))
  .map(([ip, port]) => `::ffff:${ip}${port}`);
const label = fc
  .stringMatching(/^[a-z]([a-z0-9-]{0,8}[a-z0-9])?$/)
  .filter((text) => !text.startsWith("xn--") && text[2] !== "-");
/** Longer than the names of objects in code. */
const name = fc
  .tuple(label, fc.constantFrom("com", "net", "co.uk", "onion"))
  .map(([text, suffix]) => `www.host-${text}.${suffix}`);
const pathChar = fc.constantFrom(..."abcxyz019-_=&%7E+~@".match(/%7E|./g)!);
const rarePart = fc.constantFrom("__", "/", "?q=", ".x", ",b", "|b", "&amp;b");
const pathPart = fc.oneof({ weight: 4, arbitrary: pathChar }, { weight: 1, arbitrary: rarePart });
const path = fc.array(pathPart, { maxLength: 12 }).map((pieces) => `/a${pieces.join("")}`);
const url = fc
  .tuple(fc.constantFrom("http", "https", "ftp"), fc.oneof(name, ipv4), path)
  .map(([scheme, host, rest]) => `${scheme}://${host}${rest}`);
const hostInUrl = fc.oneof(
  name,
  ipv6.map((ip) => `[${ip}]`),
);
const bareUrl = fc.tuple(hostInUrl, path).map((parts) => parts.join(""));
const email = fc
  .tuple(fc.stringMatching(/^[a-z][a-z0-9.+_-]{0,8}[a-z0-9]$/), name)
  .map((parts) => parts.join("@"));
const sha1 = fc.stringMatching(/^[0-9a-f]{40}$/);
const written = fc.oneof(ipv4, ipv6, shortV6, mapped, name, url, bareUrl, email, sha1);

/** What stands for a mark within an item. The first form is the mark itself. */
const spellings: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^http/, ["http", "hxxp", "hXXp"]],
  [/^h(tt|xx|XX)ps?:\/\/(?=[\w[])/, ["$&", "($&)", "[$&]", "{$&}"]],
  [/^(h(?:tt|xx|XX)ps?)(?=:)/, ["$1", "[$1]", "($1)"]],
  [/(?<=^h(?:tt|xx|XX)p)s(?=:)/, ["s", "[s]", "(s)"]],
  [/:\/\//, ["://", "[://]", "[:]//", "：//", ":[/][/]", "：／／", ":\\/\\/"]],
  [
    /(?<=[\w\])])\.(?=\w)/g,
    ".|[.]|(.)|{.}|[dot]|(DOT)| [.] |[[.]]|[.|.]|\\.|\\\\.|。|．|[ . ]".split("|"),
  ],
  [/(?<=[\da-f]):(?=[\da-f])/g, [":", "[:]", "："]],
  [/(?<=[\da-f])::(?=[\da-f]+$)/, ["::", "[::]", "[:][:]"]],
  [/(?<=\w)@(?=\w)/g, ["@", "[@]", "[at]", "(at)", " [AT] ", "＠"]],
  [/(?<=\w)-(?=\w)/g, ["-", "‐", "‑", "‒", "–", "—", "―", "−", "－"]],
  [/(?<=[a-z])(?=[a-z])/g, ["", "", "", "\u200b", "\u00ad", "\u2060", "\u200d", "\ufeff"]],
];

/** Items, each with the same in any spelling. */
function spelledOf(items: fc.Arbitrary<string>) {
  return fc.tuple(items, fc.infiniteStream(fc.nat({ max: 40 }))).map(([item, choices]) => {
    let text = item;
    for (const [mark, forms] of spellings) {
      text = text.replace(mark, (...found: readonly string[]) => {
        const form = forms[Number(choices.next().value)] ?? forms[0]!;
        return form.replace(/\$[&1]/, (group) => found[group === "$&" ? 0 : 1]!);
      });
    }
    return { item, text };
  });
}

const around = fc.constantFrom(
  "@",
  "We saw @ on Monday.",
  "It was @.",
  "(@)",
  '"@", they said',
  "see @, then",
  "- @",
  "**@**",
  "IP：@。",
  "已发现 @ 。",
  "a\t@\tb",
  "„@“",
  "‚@‘",
  "‹@›",
  "«@»",
  "“@”",
  "‘@’",
  "Notes\n\n@\n",
);

function foundIn(text: string): readonly string[] {
  const found = new Set<string>();
  itemFinder()(text, ({ item }) => found.add(`${item.kind} ${item.value}`));
  return [...found];
}

it("reads an item in any spelling, alone in a cell or in a text, as the same item", () => {
  fc.assert(
    fc.property(spelledOf(written), around, ({ item, text }, place) => {
      const expected = recogniseItem(item).item;
      expect(recogniseItem(text)).toEqual({ item: expected, reason: null });
      expect(foundIn(place.replace("@", () => text))).toEqual([
        `${expected?.kind} ${expected?.value}`,
      ]);
    }),
    randomRounds(5000),
  );
});

it.each([
  ["http://a.example.com/b/c.php", "http:\\\\a.example.com\\b\\c.php"],
  ["https://a.example.com/", "hxxps:\\\\a[.]example[.]com"],
  ["http://a.example.com/b", "hxxp[:]\\\\a.example.com\\b", "http:\\\\\\\\a.example.com\\\\b"],
  ["http://a.example.com/b", "http:\\/a.example.com\\b", "http:\\a.example.com/b"],
  ["http://a.example.com/b", "http:\\\\ann@a.example.com\\b"],
  ["ftp://a.example.com/b", "ftp:/\\a.example.com/b"],
  ["www.example.com", "-www.example.com", "--www.example.com", "–www.example.com"],
  ["www.example.com", "+www.example.com", "●www.example.com"],
  ["9.9.9.9", "→9.9.9.9"],
  ["http://www.example.com/a", "▪http://www.example.com/a"],
  ["ann@example.com", "-ann@example.com"],
  ["+ann@example.com", "+ann@example.com"],
])("reads %s behind backslashes or the mark of a list, in a cell and in a text", (...row) => {
  const [value, ...texts] = row;
  for (const text of texts) {
    expect(recogniseItem(text).item?.value, text).toBe(value);
    expect(foundIn(`Seen:\n${text}\n`).map((found) => found.split(" ")[1])).toEqual([value]);
  }
});

it("takes the end of a line in a source for no part of a URL", () => {
  expect(foundIn('puts("http:\\nwww.example.com");')).toEqual([]);
});

/** Values of every kind, also reserved ones and such in other scripts. */
const any = anyKinds();

function anyKinds() {
  const octet = fc.nat({ max: 255 });
  const ipv4 = fc.tuple(octet, octet, octet, octet).map((octets) => octets.join("."));
  const group = fc.nat({ max: 0xffff }).map((value) => value.toString(16));
  const ipv6 = fc.array(group, { minLength: 8, maxLength: 8 }).map((groups) => groups.join(":"));
  const label = fc
    .stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/)
    .filter((text) => text[2] !== "-");
  const suffix = fc.constantFrom("com", "co.uk", "onion", "xn--p1ai", "みんな", "github.io");
  const domain = fc.tuple(label, label, suffix).map((parts) => parts.join("."));
  const path = fc.webPath().map((text) => (text.startsWith("/") ? text : `/${text}`));
  const host = fc.oneof(
    domain,
    ipv4.filter((ip) => !isBogon(ip)),
  );
  const url = fc
    .tuple(fc.constantFrom("http", "https", "ftp"), host, path)
    .map(([scheme, host, path]) => `${scheme}://${host}${path}`);
  const email = fc.tuple(label, domain).map((parts) => parts.join("@"));
  const sha1 = fc.stringMatching(/^[0-9a-fA-F]{40}$/);
  return { ip: fc.oneof(ipv4, ipv6), domain, url, email, sha1 };
}

const real = fc.oneof(...Object.values(any));

/** A valid value in any spelling, and with text around it. */
const defanged = fc
  .tuple(
    fc.constantFrom("", " ", '"', "<"),
    spelledOf(real).map(({ text }) => text),
    fc.constantFrom("", " ", '"', ">", ",", "\u00a0", "',"),
  )
  .map((parts) => parts.join(""));

/** Pieces that occur together in real cells, in any order: near misses of every kind. */
const pieces = [
  "http https hxxp ftp : // :// [:] [/] [.] (.) [dot] (at) @ . .. / ? # \\ [ ] ( ) { } dot at",
  "example com co.uk xn-- xn--p1ai рф é 。 １ 192 0 01 256 :: 2001:db8 % %2e ' \" , < > - _",
  "mailto: bitcoin: sha1: IP: Domain= URL: e-mail: user :80 :443 /24 zip exe 0x bc1 | ; = & * ~ + ! $",
].join(" ");
const invisible = [" ", "\u00a0", "\u200b", "\ud800", "\udc00", "\0"];
const jumble = fc
  .array(fc.constantFrom(...pieces.split(" "), ...invisible), { maxLength: 12 })
  .map((some) => some.join(""));

const anyCell = fc.oneof(
  defanged,
  jumble,
  fc
    .tuple(fc.constantFrom("http://example.com/", "example.com/", "http://user@"), jumble)
    .map((parts) => parts.join("")),
  anyText({ maxLength: 60 }),
);
const anyKind = fc.option(fc.constantFrom(...itemKinds), { nil: null, freq: 2 });

it("any text is an item or a reason, and an item fits a path segment and recognises itself", () => {
  fc.assert(
    fc.property(anyCell, anyKind, (text, kind) => {
      const { item, reason } = recogniseItem(text, kind);
      expect(item === null).toBe(reason !== null);
      if (item === null) return;
      expect(decodeURIComponent(encodeURIComponent(item.value))).toBe(item.value);
      for (const told of kind === null ? [null, item.kind] : [item.kind]) {
        expect(recogniseItem(item.value, told).item).toEqual(item);
      }
    }),
    randomRounds(8000),
  );
});

it.each(Object.entries(any))("recognises values of kind %s as such", (kind, values) => {
  fc.assert(
    fc.property(values, (text) => {
      expect(recogniseItem(text).item?.kind).toBe(kind);
    }),
  );
});

it("finds the same item after a publisher's prefix and before a stray question mark", () => {
  const labels = ["SHA1: ", "IP: ", "URL:", "Domain = ", "Email address: ", "MD5: "];
  const prefix = fc.constantFrom(...labels);
  fc.assert(
    fc.property(real, prefix, fc.constantFrom("", "?", "? ", " ?"), (text, label, mark) => {
      expect(recogniseItem(mark + label + text)).toEqual(recogniseItem(text));
    }),
  );
});

it("refanging is idempotent", () => {
  fc.assert(
    fc.property(anyCell, (text) => {
      expect(refang(refang(text))).toBe(refang(text));
    }),
    randomRounds(3000),
  );
});
