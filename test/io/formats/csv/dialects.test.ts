import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { piped, plainRow, positionIn, readSource } from "../../input/sources/sources-reading.js";
import { sniffFormat } from "../../../../src/io/input/open-source.js";
import { Readable } from "node:stream";

const noFlags = { from: undefined, header: undefined, itemColumn: undefined } as const;

async function read(content: string, options: object = {}) {
  const { source, rows } = await readSource("csv", piped(content), { ...noFlags, ...options });
  return { ...source, rows, items: rows.map((row) => row.itemText.trim()) };
}

const two = ["192.0.2.1", "192.0.2.2"];

/** Content, names of the columns, lines that are skipped. All have the items `two`. */
const dialects: readonly (readonly [string, string, string, number])[] = [
  ["|", "ip|note\n192.0.2.1|x\n192.0.2.2|y\n", "ip,note", 0],
  ["| and names in a comment", "# a\n# n | ip\n1 | 192.0.2.1\n2 | 192.0.2.2\n", "n,ip", 1],
  ["names above other comments", "# n,ip\n#\n# end\n1,192.0.2.1\n2,192.0.2.2\n", "n,ip", 2],
  [
    "Zeek",
    "#path\tx\n#fields\tn\tip\n#types\tint\taddr\n1\t192.0.2.1\n2\t192.0.2.2\n#close\tx\n",
    "n,ip",
    2,
  ],
  ["Zeek, first row without item", "#fields\tn\tip\n-\t-\n1\t192.0.2.1\n2\t192.0.2.2\n", "n,ip", 0],
  ["W3C with tabs", "#Version: 1.0\n#Fields: n c-ip\n1\t192.0.2.1\n2\t192.0.2.2\n", "n,c-ip", 1],
  ["W3C, blanks", "#Fields: n c-ip ua\n1 192.0.2.1 a;+b,+c\n2 192.0.2.2 a;+b,+c\n", "n,c-ip,ua", 0],
  [
    "W3C that begins again",
    "#Fields: n c-ip\r\n1 192.0.2.1\r\n#Date: x\r\n#Fields: n c-ip\r\n2 192.0.2.2\r\n",
    "n,c-ip",
    0,
  ],
  ["; comments", "; list\n;\n;; 2024\n192.0.2.1,x\n192.0.2.2,y\n", "column_1,column_2", 3],
  ["; and # comments", "; list\n# n,ip\n1,192.0.2.1\n2,192.0.2.2\n", "n,ip", 2],
  ["; in both, as separator", "; list\n192.0.2.1 ; a\n192.0.2.2 ; b\n", "column_1,column_2", 1],
  ["a header with an empty name before ;", ";ip;n\n0;192.0.2.1;a\n1;192.0.2.2;b\n", ",ip,n", 0],
  ["rows that start with ;", ";192.0.2.1;a\n;192.0.2.2;b\n", "column_1,column_2,column_3", 0],
  ["a rule below the header", "ip,n\n-----\n192.0.2.1,1\n192.0.2.2,2\n", "ip,n", 1],
  ["a rule with cells", "ip\tn\n-----\t---\n192.0.2.1\t1\n192.0.2.2\t2\n", "ip,n", 1],
  ["Markdown", "| ip | n |\n|----|:-:|\n| 192.0.2.1 | 1 |\n| 192.0.2.2 | 2 |\n", ",ip,n,", 1],
  ["short rules", "| ip | n |\n|:-|--:|\n| 192.0.2.1 | 1 |\n| 192.0.2.2 | 2 |\n", ",ip,n,", 1],
  ["no rule of empty cells", "ip|n\n-|-\n192.0.2.1|1\n192.0.2.2|2\n", "ip,n", 0],
  ["psql", " ip | n\n----+---\n 192.0.2.1 | 1\n 192.0.2.2 | 2\n", "ip,n", 1],
  ["comments above a header", "# feed\n#\nip,n\n192.0.2.1,1\n192.0.2.2,2\n", "ip,n", 2],
  ["words in quotes", 'ip,n\n192.0.2.1,the "a, b" list\n192.0.2.2,the "c" list\n', "ip,n", 0],
  ["all at once", "; x\nReport\n======\n\nip;n\n=====\n192.0.2.1;1\n192.0.2.2;2\n", "ip,n", 5],
];

describe("a table", () => {
  it.each(dialects)("is read with %s", async (_, content, columns, skipped) => {
    const { items, reading, ...source } = await read(content);
    expect(source.columns.map((name) => name.trim()).join(",")).toBe(columns);
    expect(items.filter((item) => item !== "-")).toEqual(two);
    expect(reading.skipped?.lines ?? 0).toBe(skipped);
  });

  it.each([
    ["#fields\tn\tip\n1\t192.0.2.1\n#fields\tip\tn\n192.0.2.2\t2\n", 3],
    ["#Fields: n c-ip\r\n1 192.0.2.1\r\n\r\n#Fields: c-ip n\r\n192.0.2.2 2\r\n", 4],
  ])("stops where other columns begin in %j", async (content, line) => {
    await expect(read(content)).rejects.toMatchObject({
      code: "input_fields",
      message: expect.stringMatching(`^line ${line} of .*: other columns begin here: #[Ff]ields`),
    });
  });

  it.each(dialects)("is found behind any name with %s", async (_, content, columns) => {
    const input = { stream: Readable.from([Buffer.from(content)]), name: "stdin" };
    const found = await sniffFormat(input, { gzip: false, comment: null });
    expect(found.format).toMatch(/^[ct]sv$/);
    expect(columns).toContain(",");
  });

  it.each(dialects)("is read on from its settled layout with %s", async (_, content) => {
    const { columns, reading, rows } = await read(content);
    const resume = { row: 0, columns, reading };
    const again = await read(content, { resume });
    expect(again.rows.map(plainRow)).toEqual(rows.map(plainRow));
  });
});

it.each([
  ["psql", " ip | n\n----+---\n 192.0.2.1 | 1\n(1 row)\n"],
  ["mysql", "+----+\n| ip | n |\n+----+\n| 192.0.2.1 | 1 |\n+----+\n1 row in set (0.00 sec)\n"],
])("a table with lines below it is still one: %s", async (_, content) => {
  const { items, reading, columns } = await read(content);
  expect(reading.delimiter).toBe("|");
  expect(columns.map((name) => name.trim())).toContain("ip");
  expect(items[0]).toBe("192.0.2.1");
});

it.each([
  ["; in the name of a browser", "Mozilla/5.0 (compatible; +http://example.com/bot.html)"],
  [", in the name of a browser", "Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko)"],
  ["| and an escaped quote", String.raw`a\"b|c`],
])("a log of requests is a text, with %s", async (_, browser) => {
  const content = `192.0.2.1 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "${browser}"\n`;
  const input = { stream: Readable.from([Buffer.from(content.repeat(3))]), name: "stdin" };
  expect((await sniffFormat(input, { gzip: false, comment: null })).format).toBe("text");
});

describe("a line with an item", () => {
  it.each([
    ["an address", "192.0.2.1,first\nsetup.exe,x\nreadme,y\n"],
    ["a Norwegian domain", "vg.no,phish\n192.0.2.1,c2\n192.0.2.2,bot\n"],
    ["what may be a field and names no column", "shop.info\n192.0.2.1\n192.0.2.2\n"],
    ["a dot behind it", "evil.in.,x\n192.0.2.1,y\n192.0.2.2,z\n"],
    ["a domain beside the name of a column", "example.com,host\nfoo,192.0.2.1\nbar,192.0.2.2\n"],
    ["a domain above names of files", "login.example.com,seen\nsetup.exe,x\nrun.bat,y\n"],
    ["a defanged URL", "hxxp://example[.]com/a,x\nfoo,y\nbar,z\n"],
    ["a hash of another kind", `${"a".repeat(64)},n\nfoo,y\nbar,z\n`],
    ["a mail address with a name", "Ann <ann@example.com>,x\nfoo,y\nbar,z\n"],
    ["an address in a sentence", "Ban of 192.0.2.1 at noon,x\n192.0.2.2,y\n"],
    ["two addresses in a sentence", "192.0.2.1 asked 192.0.2.2,x\n192.0.2.3,y\n"],
  ])("is a row, with %s", async (_, content) => {
    const { source } = await readSource("csv", piped(content), {
      ...noFlags,
      itemColumn: "column_1",
    });
    expect(source.reading.header).toBe("none");
  });

  it.each([
    "source.ip,host.name",
    "event.id,user.email",
    "rule.id,n",
    "IOC,S.No",
    "data.srcip,data.win.system.computer",
    "Indicator,Sr.No.",
    "IoC,Score (virustotal.com)",
    '"IP address","ASN (via ipinfo.io)"',
    "IP,Unique count of user.id",
    "ip,Comment (contact soc@example.com)",
  ])("is none if it has names of fields: %s", async (header) => {
    expect((await read(`${header}\n192.0.2.1,x\n192.0.2.2,y\n`)).reading.header).toBe("record");
  });

  it("may be the comment that names the columns", async () => {
    const { columns } = await read("# IP (from abuse.ch),First seen\n192.0.2.1,x\n192.0.2.2,y\n");
    expect(columns).toEqual(["IP (from abuse.ch)", "First seen"]);
  });

  it("is not skipped as a title", async () => {
    const { rows } = await read("x,192.0.2.9\n\nip,n,m\n192.0.2.1,1,a\n192.0.2.2,2,b\n", {
      itemColumn: "column_2",
    });
    expect(rows[0]!.cells).toContain("192.0.2.9");
  });
});

describe("a first record without an item", () => {
  it.each([
    ["the name of a file", "setup.exe,dropper\n192.0.2.1,c2\na.example.com,c2\n"],
    ["a path", "C:\\Users\\a.exe,x\n192.0.2.1,y\n192.0.2.2,z\n"],
    ["a key of the registry", "HKLM\\Software\\a,x\n192.0.2.1,y\n192.0.2.2,z\n"],
    ["the name of a log between others", "192.0.2.1.log,x\n192.0.2.1,y\nb.log,z\n"],
    ["a day", "mailserver,2026-01-05\n192.0.2.1,2026-01-06\n192.0.2.2,2026-02-07\n"],
    ["a German day", "Drucker;05.01.2026\n192.0.2.1;06.01.2026\n192.0.2.2;\n"],
    ["a version", "Windows 10,1.2.3\n192.0.2.1,1.2.4\n192.0.2.2,1.2.5\n"],
    ["a kind among kinds", "tool,mimikatz,a\nip,192.0.2.1,b\nurl,http://example.com/a,c\n"],
    ["a number beside an empty cell", ",443\n192.0.2.1,22\n192.0.2.2,443\n"],
    ["a word that stands below, too", "N/A,scan\n192.0.2.1,scan\n192.0.2.2,c2\n"],
    ["empty cells only", ",\n192.0.2.1,a\n192.0.2.2,b\n"],
  ])("is a row, with %s", async (_, content) => {
    const { reading, rows } = await read(content);
    expect([reading.header, rows.length]).toEqual(["none", 3]);
  });

  it.each([
    "ip,2024,2025\n192.0.2.1,7,8\n192.0.2.2,9,10\n",
    "dst_ip,malware\n192.0.2.1,malware\n192.0.2.2,other\n",
    "address,malware\n192.0.2.1,a\naddress,malware\n192.0.2.2,b\n",
    "threat.url,registry.key\nhttp://example.com/a,x\nhttp://example.com/b,y\n",
    "host,setup.exe\na.example.com,1\nb.example.com,0\n",
  ])("is the header if it names items: %j", async (content) => {
    const { reading, warnings } = await read(content);
    expect([reading.header, warnings]).toEqual(["record", []]);
  });

  it.each([
    ["seen by our team,high", "192.0.2.1,high\n192.0.2.2,low\n"],
    ["0,1", "192.0.2.1,5\n192.0.2.2,6\n"],
    ["IP of 2026,2026-01-05", "192.0.2.1,2026-01-06\n192.0.2.2,2026-01-06\n"],
  ])("is named if it may be either: %s", async (first, rest) => {
    const found = await read(`${first}\n${rest}`);
    const again = await read(`${first}\n${rest}`, { startAt: positionIn(found) });
    const named = `the header may be a row: ${first.replace(",", ", ")}; --no-header reads it as one`;
    expect([found.warnings, again.warnings]).toEqual([[named], [named]]);
  });

  it("is a row below a comment that names the columns, if it may be either", async () => {
    const { columns, rows } = await read("# ip,note\nour team,high\n192.0.2.1,high\n");
    expect([columns, rows.length]).toEqual([["ip", "note"], 2]);
  });
});

describe("--delimiter", () => {
  it.each(["~", "^", "*", "/", "|"])(
    "skips a rule below the header, divided by %s",
    async (char) => {
      const content = "ip,n\n----,--\n192.0.2.1,1\n192.0.2.2,2\n".replaceAll(",", char);
      const { rows } = await read(content, { delimiter: char });
      expect(rows).toHaveLength(2);
    },
  );

  const delimiter = fc
    .oneof(
      fc.constantFrom("~", "^", "\t", "\u0001", "¦", " ", "/"),
      fc.string({ unit: "grapheme" }),
    )
    .filter((text) => /^[^\p{L}\p{N}_"\r\n]$/u.test(text) && text !== "#" && text !== ";");

  it("separates cells by any character", async () => {
    await fc.assert(
      fc.asyncProperty(delimiter, fc.integer({ min: 1, max: 5 }), async (char, count) => {
        const lines = Array.from({ length: count }, (_, n) => `192.0.2.${n}${char}"é${char}${n}"`);
        const content = `ip${char}note\n${lines.join("\n")}\n`;
        const { rows, reading } = await read(content, { delimiter: char });
        expect(reading.delimiter).toBe(char);
        expect(rows.map(({ cells }) => cells)).toEqual(
          lines.map((_, n) => [`192.0.2.${n}`, `é${char}${n}`]),
        );
      }),
      { numRuns: 50 },
    );
  });
});

describe("before a table", () => {
  const rows = "192.0.2.1,ip,90\nexample.com,domain,80\n";

  it.each([
    ["a title above the header", `Report of the week\nindicator,type,score\n${rows}`, 1],
    ["a title with a comma, a blank line", `Report, week 9\n\nindicator,type,score\n${rows}`, 2],
    ["a rule", `Report, week 9\n=====\nindicator,type,score\n${rows}`, 2],
    ["a title filled up with empty cells", `Report,,\nindicator,type,score\n${rows}`, 1],
    ["the delimiter for Excel", "sep=;\na;b;c\n192.0.2.1;ip;90\n", 1],
    ["a title and no rows", "Report\n\nindicator;type\n", 2],
    ["a comment before and after the title", `# x\nReport\n# y\nindicator,type,score\n${rows}`, 3],
  ])("skips %s", async (_, text, lines) => {
    expect((await read(text)).reading.skippedLines).toBe(lines);
  });

  it.each([
    ["a header", `indicator,type,score\n${rows}`],
    ["a short header", `indicator\n${rows}`],
    ["a short first row", `192.0.2.9\n${rows}`],
    ["a short header of two cells", `indicator,type\n${rows}`],
    ["a list", "Bad hosts\n\n192.0.2.1\n192.0.2.2\n"],
    ["a quoted header of two lines", `"IP\naddress",type\n192.0.2.1,ip\n192.0.2.2,ip\n`],
    ["comments", `# x\n#\n\nindicator,type,score\n${rows}`],
  ])("keeps %s", async (_, text) => {
    expect((await read(text)).reading.skippedLines).toBeUndefined();
  });
});
