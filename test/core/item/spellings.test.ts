import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { recogniseItem } from "../../../src/core/item/recognise.js";
import {
  openWithheld,
  type Withheld,
  type WithheldChoice,
} from "../../../src/client/lookup/withheld.js";
import { spellingsOfIpv4, spellingsOfName } from "../../helpers/host-spellings.js";
import { randomRounds } from "../../helpers/random-rounds.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

async function withholding(entries: readonly string[], own: WithheldChoice = {}) {
  const path = join(await temporaryFolder(), "list");
  await writeFile(path, `${entries.join("\n")}\n`);
  return openWithheld({ exclude: entries.length === 0 ? [] : [path], ...own });
}

/** What of a text would be sent: null for nothing. */
function sentOf(text: string, withheld: Withheld): string | null {
  const { item } = recogniseItem(text);
  return item === null || withheld.answer(item) !== null ? null : item.value;
}

const excluded = ["8.8.0.0/16", "9.9.9.9", "1.1.1.in-addr.arpa"];
const addresses = fc.constantFrom("8.8.200.9", "9.9.9.9", "1.1.1.1").chain(spellingsOfIpv4);
const names = [
  "corp.example.org",
  "bücher.example.com",
  "xn--bcher-kva.example.com",
  "example.net",
];
const internalNames = [
  ..."nas.home.arpa default.service.arpa resolver.arpa intranet nas.local".split(" "),
  ..."10.in-addr.arpa 168.192.in-addr.arpa 8.b.d.0.1.0.0.2.ip6.arpa 1.c.e.f.ip6.int".split(" "),
  `1.${"0.".repeat(31)}ip6.arpa`,
];
const internal = fc.oneof(
  fc.constantFrom("10.1.2.3", "127.0.0.1", "192.168.7.1", "169.254.1.1").chain(spellingsOfIpv4),
  spellingsOfName(fc.constantFrom(...internalNames)),
);

test.each<[string, texts: fc.Arbitrary<string>, entries: string[], WithheldChoice]>([
  ["an excluded address, with reserved ones asked", addresses, excluded, { bogons: "ask" }],
  ["an excluded address", addresses, excluded, { bogons: "local" }],
  [
    "an excluded name",
    spellingsOfName(fc.constantFrom(...names)),
    ["corp.example.org", "bücher.example.com", "example.net."],
    {},
  ],
  ["an internal address or name, without a list", internal, [], {}],
])("no spelling of %s is sent", async (_, texts, entries, choice) => {
  const withheld = await withholding(entries, choice);
  fc.assert(
    fc.property(texts, (text) => {
      expect([text, sentOf(text, withheld)]).toEqual([text, null]);
    }),
    randomRounds(3_000),
  );
});

test("neighbours are sent", async () => {
  const withheld = await withholding(["8.8.0.0/16", "corp.example.org"]);
  const asked = {
    "9.8.8.8": "9.8.8.8",
    "http://150931464/": "http://8.255.8.8/",
    "64:ff9b::909:909": "64:ff9b::909:909",
    "2002:909:909::1": "2002:909:909::1",
    "2001:0:909:909:8000:0:f7f7:f7f7": null,
    "2001:0:909:909:8000:0:f6f6:f6f6": "2001:0:909:909:8000:0:f6f6:f6f6",
    "8.8.9.9.in-addr.arpa": "8.8.9.9.in-addr.arpa",
    "9.in-addr.arpa": "9.in-addr.arpa",
    "8.in-addr.arpa": "8.in-addr.arpa",
    "a.home.arpa.example.com": "a.home.arpa.example.com",
    "http://notcorp.example.org../a": "http://notcorp.example.org../a",
  };
  for (const [text, sent] of Object.entries(asked)) {
    expect([text, sentOf(text, withheld)]).toEqual([text, sent]);
  }
});

const ends = [".", "..", "....", ".:443"];

test.each([
  ["https://corp.example.org/login", ends.map((end) => `https://corp.example.org${end}/login`)],
  ["ann@corp.example.org", ["ann@corp.example.org", "ann@corp.example.org."]],
])(
  "the single item %s is excluded with dots behind its host, other items there are not",
  async (entry, spellings) => {
    const withheld = await withholding([entry]);
    const sent = [...spellings, "https://corp.example.org/other"].map((text) =>
      sentOf(text, withheld),
    );
    expect(sent).toEqual([...spellings.map(() => null), "https://corp.example.org/other"]);
  },
);
