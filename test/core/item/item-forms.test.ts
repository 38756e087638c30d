import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isBogon } from "../../../src/core/item/ip.js";
import { itemKinds } from "../../../src/core/item/item.js";
import { recogniseItem } from "../../../src/core/item/recognise.js";
import { refang } from "../../../src/core/item/refang.js";
import { anyText } from "../../helpers/any-text.js";

const octet = fc.nat({ max: 255 });
const ipv4 = fc.tuple(octet, octet, octet, octet).map((octets) => octets.join("."));
const publicIpv4 = ipv4.filter((ip) => !isBogon(ip));
const group = fc.nat({ max: 0xffff }).map((value) => value.toString(16));
const ipv6 = fc.array(group, { minLength: 8, maxLength: 8 }).map((groups) => groups.join(":"));
const label = fc
  .stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/)
  .filter((text) => text[2] !== "-");
const suffix = fc.constantFrom("com", "co.uk", "onion", "xn--p1ai", "みんな", "github.io");
const domain = fc.tuple(label, label, suffix).map((parts) => parts.join("."));
const path = fc.webPath().map((text) => (text.startsWith("/") ? text : `/${text}`));
const url = fc
  .tuple(fc.constantFrom("http", "https", "ftp"), fc.oneof(domain, publicIpv4), path)
  .map(([scheme, host, path]) => `${scheme}://${host}${path}`);
const email = fc.tuple(label, domain).map((parts) => parts.join("@"));
const sha1 = fc.stringMatching(/^[0-9a-fA-F]{40}$/);
const real = fc.oneof(ipv4, ipv6, domain, url, email, sha1);

const defangings: readonly (readonly [string, readonly string[]])[] = [
  ["http", ["hxxp", "hXXp"]],
  ["://", ["[://]", "[:]//", ":[/][/]"]],
  [".", ["[.]", "(.)", "{.}", "[dot]", "(dot)", " [.] ", "[[.]]"]],
  ["@", ["[@]", "[at]", "(at)", " [AT] "]],
];

/** A valid value with some of its punctuation defanged, and with text around it. */
const defanged = fc
  .tuple(
    real,
    fc.infiniteStream(fc.nat({ max: 20 })),
    fc.constantFrom("", " ", '"', "<"),
    fc.constantFrom("", " ", '"', ">", ",", "\u00a0", "',"),
  )
  .map(([value, choices, before, behind]) => {
    let text = value;
    for (const [mark, forms] of defangings) {
      text = text.replaceAll(mark, () => forms[Number(choices.next().value)] ?? mark);
    }
    return before + text + behind;
  });

/** Pieces that occur together in real cells, in any order: near misses of every kind. */
const jumble = fc
  .array(
    fc.constantFrom(
      ..."http https hxxp ftp : // :// [:] [/] [.] (.) [dot] (at) @ . .. / ? # \\ [ ] ( ) { } dot at".split(
        " ",
      ),
      ..."example com co.uk xn-- xn--p1ai рф é 。 １ 192 0 01 256 :: 2001:db8 % %2e ' \" , < > - _".split(
        " ",
      ),
      ..."mailto: bitcoin: sha1: IP: Domain= URL: e-mail: user :80 :443 /24 zip exe 0x bc1 | ; = & * ~ + ! $".split(
        " ",
      ),
      " ",
      "\u00a0",
      "\u200b",
      "\ud800",
      "\udc00",
      "\0",
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(""));

const anyCell = fc.oneof(
  defanged,
  jumble,
  fc
    .tuple(fc.constantFrom("http://example.com/", "example.com/", "http://user@"), jumble)
    .map((parts) => parts.join("")),
  anyText({ maxLength: 60 }),
);
const anyKind = fc.option(fc.constantFrom(...itemKinds), { nil: null, freq: 2 });

describe("recognition", () => {
  it("is an item or a reason for any text, fits a path segment, and recognises itself", () => {
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
      { numRuns: 8000 },
    );
  });

  it.each([
    ["ip", fc.oneof(ipv4, ipv6)],
    ["domain", domain],
    ["url", url],
    ["email", email],
    ["sha1", sha1],
  ] as const)("recognises values of kind %s as such", (kind, values) => {
    fc.assert(
      fc.property(values, (text) => {
        expect(recogniseItem(text).item?.kind).toBe(kind);
      }),
    );
  });

  it("finds the same item after a publisher's prefix and before a stray question mark", () => {
    const prefix = fc.constantFrom(
      "SHA1: ",
      "IP: ",
      "URL:",
      "Domain = ",
      "Email address: ",
      "MD5: ",
    );
    fc.assert(
      fc.property(real, prefix, fc.constantFrom("", "?", "? ", " ?"), (text, label, mark) => {
        expect(recogniseItem(mark + label + text)).toEqual(recogniseItem(text));
      }),
    );
  });
});

it("refanging is idempotent", () => {
  fc.assert(
    fc.property(anyCell, (text) => {
      expect(refang(refang(text))).toBe(refang(text));
    }),
    { numRuns: 3000 },
  );
});
