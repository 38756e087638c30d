import fc from "fast-check";
import { expect, it } from "vitest";
import { isBogon } from "../../../src/core/item/ip.js";
import { recogniseItem } from "../../../src/core/item/recognise.js";
import { itemFinder } from "../../../src/jobs/extract/find-items.js";

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
const path = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: pathChar },
      { weight: 1, arbitrary: fc.constantFrom("__", "/", "?q=", ".x", ",b", "|b", "&amp;b") },
    ),
    {
      maxLength: 12,
    },
  )
  .map((pieces) => `/a${pieces.join("")}`);
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
    [
      ".",
      "[.]",
      "(.)",
      "{.}",
      "[dot]",
      "(DOT)",
      " [.] ",
      "[[.]]",
      "[.",
      ".]",
      "\\.",
      "\\\\.",
      "。",
      "．",
      "[ . ]",
    ],
  ],
  [/(?<=[\da-f]):(?=[\da-f])/g, [":", "[:]", "："]],
  [/(?<=[\da-f])::(?=[\da-f]+$)/, ["::", "[::]", "[:][:]"]],
  [/(?<=\w)@(?=\w)/g, ["@", "[@]", "[at]", "(at)", " [AT] ", "＠"]],
  [/(?<=\w)-(?=\w)/g, ["-", "‐", "‑", "‒", "–", "—", "―", "−", "－"]],
  [/(?<=[a-z])(?=[a-z])/g, ["", "", "", "\u200b", "\u00ad", "\u2060", "\u200d", "\ufeff"]],
];

/** An item, and the same in any spelling. */
const spelled = fc.tuple(written, fc.infiniteStream(fc.nat({ max: 40 }))).map(([item, choices]) => {
  let text = item;
  for (const [mark, forms] of spellings) {
    text = text.replace(mark, (...found: readonly string[]) => {
      const form = forms[Number(choices.next().value)] ?? forms[0]!;
      return form.replace(/\$[&1]/, (group) => found[group === "$&" ? 0 : 1]!);
    });
  }
  return { item, text };
});

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
    fc.property(spelled, around, ({ item, text }, place) => {
      const expected = recogniseItem(item).item;
      expect(recogniseItem(text)).toEqual({ item: expected, reason: null });
      expect(foundIn(place.replace("@", () => text))).toEqual([
        `${expected?.kind} ${expected?.value}`,
      ]);
    }),
    { numRuns: 5000 },
  );
});

it.each([
  ["http:\\\\a.example.com\\b\\c.php", "http://a.example.com/b/c.php"],
  ["hxxps:\\\\a[.]example[.]com", "https://a.example.com/"],
  ["hxxp[:]\\\\a.example.com\\b", "http://a.example.com/b"],
  ["http:\\\\\\\\a.example.com\\\\b", "http://a.example.com/b"],
  ["ftp:/\\a.example.com/b", "ftp://a.example.com/b"],
  ["http:\\/a.example.com\\b", "http://a.example.com/b"],
  ["http:\\a.example.com/b", "http://a.example.com/b"],
  ["http:\\\\ann@a.example.com\\b", "http://a.example.com/b"],
  ["-www.example.com", "www.example.com"],
  ["--www.example.com", "www.example.com"],
  ["–www.example.com", "www.example.com"],
  ["+www.example.com", "www.example.com"],
  ["●www.example.com", "www.example.com"],
  ["→9.9.9.9", "9.9.9.9"],
  ["▪http://www.example.com/a", "http://www.example.com/a"],
  ["-ann@example.com", "ann@example.com"],
  ["+ann@example.com", "+ann@example.com"],
])("reads the backslashes and the mark of a list in %s, in a cell and in a text", (text, value) => {
  expect(recogniseItem(text).item?.value).toBe(value);
  expect(foundIn(`Seen:\n${text}\n`).map((found) => found.split(" ")[1])).toEqual([value]);
});

it("takes the end of a line in a source for no part of a URL", () => {
  expect(foundIn('puts("http:\\nwww.example.com");')).toEqual([]);
});
