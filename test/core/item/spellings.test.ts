import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { recogniseItem } from "../../../src/core/item/recognise.js";
import { openWithheld, type WithheldChoice } from "../../../src/client/lookup/withheld.js";
import { spellingsOfIpv4, spellingsOfName } from "../../helpers/host-spellings.js";
import { randomRounds } from "../../helpers/random-rounds.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

async function withholding(entries: readonly string[], own: WithheldChoice = {}) {
  const path = join(await temporaryFolder(), "list");
  await writeFile(path, `${entries.join("\n")}\n`);
  return openWithheld({ exclude: entries.length === 0 ? [] : [path], ...own });
}

/** What of a text would be sent: null for nothing. */
function sentOf(text: string, withheld: Awaited<ReturnType<typeof openWithheld>>): string | null {
  const { item } = recogniseItem(text);
  return item === null || withheld.answer(item) !== null ? null : item.value;
}

const runs = randomRounds(3_000);

test("no spelling of an excluded address is sent, reserved addresses asked or not", async () => {
  for (const bogons of ["ask", "local"] as const) {
    const withheld = await withholding(["8.8.0.0/16", "9.9.9.9", "1.1.1.in-addr.arpa"], { bogons });
    const excluded = fc.constantFrom("8.8.200.9", "9.9.9.9", "1.1.1.1").chain(spellingsOfIpv4);
    fc.assert(
      fc.property(excluded, (text) => {
        expect([text, sentOf(text, withheld)]).toEqual([text, null]);
      }),
      runs,
    );
  }
});

test("no spelling of an excluded name is sent", async () => {
  const withheld = await withholding(["corp.example.org", "bücher.example.com", "example.net."]);
  const names = fc.constantFrom(
    "corp.example.org",
    "bücher.example.com",
    "xn--bcher-kva.example.com",
    "example.net",
  );
  fc.assert(
    fc.property(spellingsOfName(names), (text) => {
      expect([text, sentOf(text, withheld)]).toEqual([text, null]);
    }),
    runs,
  );
});

test("no spelling of an internal address or name is sent without a list", async () => {
  const withheld = await withholding([]);
  const internal = fc.oneof(
    fc.constantFrom("10.1.2.3", "127.0.0.1", "192.168.7.1", "169.254.1.1").chain(spellingsOfIpv4),
    spellingsOfName(
      fc.constantFrom(
        "nas.home.arpa",
        "default.service.arpa",
        "resolver.arpa",
        "intranet",
        "nas.local",
        "10.in-addr.arpa",
        "168.192.in-addr.arpa",
        "8.b.d.0.1.0.0.2.ip6.arpa",
        `1.${"0.".repeat(31)}ip6.arpa`,
        "1.c.e.f.ip6.int",
      ),
    ),
  );
  fc.assert(
    fc.property(internal, (text) => {
      expect([text, sentOf(text, withheld)]).toEqual([text, null]);
    }),
    runs,
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

test.each(["https://corp.example.org/login", "ann@corp.example.org"])(
  "the single item %s is excluded with dots behind its host, other items there are not",
  async (entry) => {
    const withheld = await withholding([entry]);
    const spellings = entry.startsWith("https:")
      ? fc
          .constantFrom(".", "..", "....", ".:443")
          .map((end) => entry.replace("/login", `${end}/login`))
      : fc.constantFrom(".", "").map((end) => entry + end);
    fc.assert(
      fc.property(spellings, (text) => {
        expect([text, sentOf(text, withheld)]).toEqual([text, null]);
      }),
    );
    expect(sentOf("https://corp.example.org/other", withheld)).not.toBeNull();
  },
);
