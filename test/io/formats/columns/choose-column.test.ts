import { describe, expect, it } from "vitest";
import {
  chooseItemColumn,
  chooseKindColumn,
} from "../../../../src/io/formats/columns/find-columns.js";
import {
  type IsHeld,
  rateColumns,
  type SampledColumn,
} from "../../../../src/io/formats/columns/rate-columns.js";

/** Columns of a table; adjacent ones are neighbours. */
function table(columns: Readonly<Record<string, readonly (string | null)[]>>): SampledColumn[] {
  const names = Object.keys(columns);
  return names.map((name, index) => ({
    name,
    cells: columns[name]!,
    neighbours: [index - 1, index + 1].filter((n) => n >= 0 && n < names.length),
  }));
}

const ip = "192.0.2.1";
const sha256 = "a".repeat(64);

/** Ten cells: so many with a value, then the others. */
function tenths(count: number, value = ip, rest = "words"): string[] {
  return Array.from({ length: 10 }, (_, n) => (n < count ? value : rest));
}

const page = "https://reports.example.org/a";
const pages = tenths(10, page);
const hashes = tenths(10, sha256);
const inside = tenths(10, "10.0.0.5");
const words = tenths(0);

function chosen(columns: Parameters<typeof table>[0], isHeld?: IsHeld): string {
  const { choice } = chooseItemColumn(table(columns), isHeld);
  if ("problem" in choice) {
    return choice.problem === "unreadable" ? `can't read ${choice.column.name}` : choice.problem;
  }
  return `${choice.name} by ${choice.by}`;
}

describe("chooseItemColumn", () => {
  it.each(["item", "indicator", "ioc", "value", "data"])(
    "prefers the usual name %s to a column with a larger share",
    (name) => {
      const cells = { peer: tenths(10), [` ${name.toUpperCase()} `]: tenths(5) };
      expect(chosen(cells)).toBe(` ${name.toUpperCase()}  by name`);
    },
  );

  it.each<[string, Parameters<typeof table>[0], string]>([
    ["the first usual name", { data: tenths(10), value: tenths(9) }, "value by name"],
    ["a usual name after one without items", { ioc: words, data: tenths(9) }, "data by name"],
    ["the larger share", { src: tenths(10), note: words, dst: tenths(8) }, "src by share"],
    ["none of two a tenth apart", { src: tenths(10), dst: tenths(9) }, "several"],
    ["none below half", { src: tenths(4), note: words }, "none"],
    ["the hash that can be looked up", { sha256: hashes, sha1: tenths(10) }, "sha1 by share"],
    ["items beside a usual name with hashes", { Data: hashes, c2: tenths(10) }, "c2 by share"],
    ["addresses beside a few URLs", { ip: tenths(10), url: tenths(4, page, "") }, "ip by share"],
    ["none beside another kind in half of the rows", { ip: tenths(10), url: pages }, "several"],
    ["none of two columns of hashes", { sha256: hashes, md5: hashes }, "several"],
    ["the position of a repeated name", { ip: words, "ip ": tenths(10) }, "column_2 by share"],
    ["hashes, if nothing can be looked up", { sha256: hashes, note: words }, "sha256 by share"],
  ])("takes %s", (_, cells, result) => {
    expect(chosen(cells)).toBe(result);
  });

  it.each<[string, Parameters<typeof table>[0], string]>([
    ["ioc", { IOC: tenths(4), peer: tenths(10) }, "can't read IOC"],
    ["value", { Value: words, Reference: pages }, "can't read Value"],
    [
      "indicator",
      { address: tenths(10), Indicator: ["x", ...tenths(0, "", "")] },
      "can't read Indicator",
    ],
    // Numbers and lists of NDJSON.
    ["data", { data: Array.from({ length: 10 }, () => null), host: tenths(10) }, "can't read data"],
  ])("lets no column replace a usual name that can't be read: %s", (_, cells, result) => {
    expect(chosen(cells)).toBe(result);
  });

  it("replaces a usual name without cells, or with kinds", () => {
    expect(chosen({ ioc: tenths(0, "", "N/A"), peer: tenths(10) })).toBe("peer by share");
    expect(chosen({ indicator: tenths(10, "ip"), peer: tenths(10) })).toBe("peer by share");
  });

  const citations =
    "reference|References|source|link|permalink|report|article|blog|advisory|urlhaus_link|" +
    "Source URL|threat.indicator.reference|references.url|reportLink|Reference 2|links.self|terms";

  it.each(citations.split("|"))("never takes the citation %s, and it is no rival", (name) => {
    expect(chosen({ peer: tenths(10), [name]: pages })).toBe("peer by share");
    expect(chosen({ note: words, [name]: pages })).toBe("none");
    expect(chosen({ sha256: hashes, [name]: pages })).toBe("sha256 by share");
  });

  it.each("source_ip|source.ip|Source Address|report_indicator|report.ioc|reporter".split("|"))(
    "takes %s, which cites nothing",
    (name) => {
      expect(chosen({ note: words, [name]: tenths(10) })).toContain(name);
    },
  );

  it("takes a single column, whatever its name", () => {
    expect(chosen({ link: pages })).toBe("link by share");
  });

  it.each<[string, string[]]>([
    ["private addresses", inside],
    ["loopback URLs", tenths(10, "https://127.0.0.1:4443/a")],
    ["excluded names", tenths(10, "mail.corp.example.com")],
    ["networks", tenths(10, "192.0.2.0/24")],
  ])("counts %s as indicators, but prefers what can be looked up", (_, cells) => {
    const isHeld: IsHeld = ({ value }) => value.endsWith("corp.example.com");
    expect(chosen({ a: cells, note: words }, isHeld)).toBe("a by share");
    expect(chosen({ a: cells, dst: ["9.9.9.9", ...tenths(9, "-")] }, isHeld)).toBe("dst by share");
    expect(chosen({ a: [...cells.slice(4), ...tenths(4, "9.9.9.9")], hash: hashes }, isHeld)).toBe(
      "a by share",
    );
  });

  const hundred = Array(10).fill(hashes).flat();
  const oneOf = (value: string): string[] => [...Array(9).fill(words).flat(), ...tenths(1, value)];

  it.each(["ioc", "Data", "sha256"])(
    "never takes %s without anything to look up while another column has something",
    (name) => {
      expect(chosen({ [name]: hundred, note: oneOf(ip) })).toBe("several");
      expect(chosen({ [name]: hundred, c2: oneOf("http://cdn.example.com/a") })).toBe("several");
      expect(chosen({ [name]: hundred, "ips[]": oneOf(ip) })).toBe("several");
      expect(chosen({ [name]: hundred, c2: [ip, ...Array(99).fill("-")] })).toBe("c2 by share");
    },
  );

  it("takes no file for a domain", () => {
    const names = ["invoice.zip", "run.sh", "loader.py", "notes.md", "portal.app"];
    const some = [...names.slice(1), "setup.exe"];
    for (const name of ["filename", "File Name", "file.path", "Attachments"]) {
      expect(chosen({ sha256: hashes, [name]: names })).toBe("sha256 by share");
      expect(chosen({ [name]: names, peer: tenths(5).slice(0, 5) })).toBe("peer by share");
    }
    expect(chosen({ sha256: hashes, name: some })).toBe("sha256 by share");
    expect(chosen({ sha256: hashes, name: names })).toBe("name by share");
    expect(chosen({ sha256: hashes, domain: some })).toBe("domain by share");
    expect(chosen({ sha256: hashes, ioc: some })).toBe("ioc by name");
  });

  it("takes no private address while a column named as a citation has addresses", () => {
    expect(chosen({ Source: tenths(10), Destination: inside })).toBe("several");
    expect(chosen({ sha256: hashes, source: tenths(1, ip, "") })).toBe("several");
    expect(chosen({ Source: inside, Destination: tenths(10) })).toBe("Destination by share");
  });

  it("takes hashes beside a note that links to a page", () => {
    expect(chosen({ data: hundred, Notes: oneOf(page) })).toBe("data by name");
    expect(chosen({ sha256: hundred, "file.description": oneOf(page) })).toBe("sha256 by share");
  });

  it("chooses no list, and lets none replace a column", () => {
    expect(chosen({ "ips[]": tenths(10), note: words })).toBe("none");
    expect(chosen({ sensor: tenths(10), "ips[]": tenths(10) })).toBe("sensor by share");
  });

  it.each("| |N/A|-|--|none|NULL|nil|unknown|n/d|?|(empty)|\\N".split("|"))(
    "counts %j as an empty cell",
    (cell) => {
      expect(chosen({ sha256: hashes, c2: tenths(1, ip, cell) })).toBe("c2 by share");
    },
  );

  it("counts cells labelled by a neighbour only under a usual name", () => {
    const accounts = ["svc-backup", "svc-mail", "guest"];
    const kind = ["user_account", "tool", "mutex"];
    expect(chosen({ kind, data: accounts })).toBe("data by name");
    expect(chosen({ kind, account: accounts })).toBe("none");
  });
});

it.each([
  ["an item", ip, 1],
  ["a defanged item", "hxxp://example[.]com/a", 1],
  ["a hash of another kind", sha256, 1],
  ["a network", "192.0.2.0/24", 1],
  ["a URL of an internal host", "http://10.0.0.5/a", 1],
  ["a file name", "setup.exe", 0.5],
  ["a date", "2026-03-01T04:00:00Z", 0],
])("rateColumns counts %s as %3$d", (_, cell, share) => {
  const [column] = rateColumns(table({ any: [cell, "", "N/A"] }));
  expect(column?.sample).toMatchObject({ cells: 1, indicators: share > 0 ? 1 : 0, share });
});

it.each([
  ["documentation", ["192.0.2.1", "198.51.100.7", "203.0.113.9", "2001:db8::1"], 1],
  ["benchmarks", ["198.18.0.1", "198.19.255.254"], 1],
  ["private networks", ["10.0.0.5", "192.168.1.1", "fd00::1", "127.0.0.1"], 0],
])("addresses of ranges for %s are worth %3$d of a choice", (_, cells, queryable) => {
  const [column] = rateColumns(table({ any: cells }));
  expect(column?.sample).toMatchObject({ share: 1, queryable });
});

describe("chooseKindColumn", () => {
  const values = [ip, "example.com", "setup.exe", sha256];

  it.each([
    ["left", { indicator_type: ["ip", "domain", "filename", "sha256"], data: values }, 1],
    ["right", { data: values, "IOC Type": ["ip", "campaign", "x", "y"] }, 0],
    ["left, by its words", { category: ["ip", "domain", "seen", "sha256"], data: values }, 1],
  ])("takes the neighbour on the %s", (_, columns, item) => {
    const kind = chooseKindColumn(table(columns), item);
    expect(kind).toEqual({
      name: Object.keys(columns)[1 - item],
      index: 1 - item,
      by: "neighbour",
    });
  });

  it.each([
    ["names no kind that repute knows", { type: ["malware", "phishing"], data: values }, 1],
    ["mostly names something else", { note: ["ip", "seen", "in", "March"], data: values }, 1],
    ["is not beside it", { type: ["ip", "domain"], note: ["x", "y"], data: values }, 2],
  ])("does not take a column that %s", (_, columns, item) => {
    expect(chooseKindColumn(table(columns), item)).toBeNull();
  });
});
