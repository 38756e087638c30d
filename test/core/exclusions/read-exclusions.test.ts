import { mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ExclusionList } from "../../../src/core/exclusions/exclusion-list.js";
import { readExclusions } from "../../../src/core/exclusions/read-exclusions.js";
import { recogniseItem } from "../../../src/core/item/recognise.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

async function listOf(content: string | Buffer | object): Promise<ExclusionList> {
  const path = join(await temporaryFolder(), "list");
  const isText = typeof content === "string" || Buffer.isBuffer(content);
  await writeFile(path, isText ? content : JSON.stringify(content));
  return (await readExclusions([path]))[0]!;
}

function has(list: ExclusionList, text: string): boolean {
  const { item } = recogniseItem(text);
  if (item === null) throw new Error(`${text} is no item`);
  return list.has(item);
}

const sha1 = "3395856ce81f2b7382dee72602f798b642f14140";
const wallet = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";

describe("a list of lines", () => {
  test.each<[entry: string, held: readonly string[], free: readonly string[]]>([
    ["8.8.8.8", ["8.8.8.8", "http://8.8.8.8:8080/a", "::ffff:8.8.8.8"], ["8.8.8.9"]],
    [
      "8.8.0.0/16",
      ["64:ff9b::808:101", "2002:808:101::1", "2001:0:808:101::f6f6:f6f6", "1.8.8.in-addr.arpa"],
      ["64:ff9b::909:101", "2002:909:101::1", "2001:0:909:101::f6f6:f6f6", "1.9.9.in-addr.arpa"],
    ],
    ["64:ff9b::8.8.1.1", ["8.8.1.1", "http://134742273/", "2002:808:101::1"], ["8.8.1.2"]],
    ["64:ff9b::8.8.1.0/120", ["8.8.1.255", "7.1.8.8.in-addr.arpa"], ["8.8.2.0", "8.8.0.255"]],
    ["2002:808:101::", ["http://8.8.1.1/", "64:ff9b::808:101"], ["8.8.1.2"]],
    ["2002:808::/32", ["8.8.0.0", "8.8.255.255", "2002:808:101::1"], ["8.9.0.0", "8.7.255.255"]],
    ["2001:0:909:909::f7f7:fefe", ["8.8.1.1"], ["8.8.1.2"]],
    ["2606:4700::200:5efe:8.8.1.1", ["8.8.1.1"], ["8.8.1.2", "2606:4700::1"]],
    ["64:ff9b:1:808:1:5efe::/95", ["8.8.1.94"], ["8.8.1.1", "9.9.9.9"]],
    ["64:ff9b::/96", ["64:ff9b::808:101"], ["8.8.1.1", "2002:808:101::1"]],
    ["2002::/16", ["2002:808:101::1"], ["8.8.1.1", "64:ff9b::808:101"]],
    ["::/0", ["2606:4700::1"], ["8.8.1.1"]],
    ["0.0.0.0/0", ["1.2.3.4", "255.255.255.255"], ["2606:4700::1"]],
    ["2606:4700::/32", ["2606:4700::1", "http://[2606:4700:1::2]/"], ["2606:4701::1"]],
    ["*.corp.example.com", ["a.corp.example.com"], ["corp2.example.com"]],
    ["corp.example.com", ["A.B.Corp.Example.COM.", "https://corp.example.com:8443/a?b"], []],
    ["CORP[.]example[.]com.", ["a.corp.example.com"], ["corp2.example.com"]],
    ["bücher.example.com", ["xn--bcher-kva.example.com"], ["bucher.example.com"]],
    ["corp.example", ["http://a.corp.example/"], ["http://corp.example.com/"]],
    ["example.com#ours", ["a.example.com", "http://example.com/a"], ["example.net"]],
    ["example.com/", ["http://www.example.com/x"], ["example.net"]],
    ["example.com/a", ["http://example.com/a", "https://example.com/a"], ["example.com"]],
    ["http://10.0.0.1/", [], ["8.8.8.8"]],
    ["@example.com", ["me@example.com"], ["example.com", "me@mail.example.com"]],
    ["Me@example.com", ["me@example.com", "ME@example.com"], ["you@example.com"]],
    [
      "hxxp://example.com/a?b#c",
      ["http://example.com/a?b#c"],
      ["http://example.com/a", "https://example.com/a?b#c", "example.com"],
    ],
    [sha1.toUpperCase(), [sha1], [sha1.replace("3", "4")]],
    [wallet, [wallet], ["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"]],
  ])("%s", async (entry, held, free) => {
    const list = await listOf(`${entry}\n`);
    expect([...held, ...free].filter((text) => has(list, text))).toEqual(held);
    expect(list.entries).toBe(1);
  });

  test("has comments, blank lines, quotes, a byte order mark and any line end", async () => {
    const list = await listOf(
      '\uFEFF# ours\r\n\r\n  example.com # all of it\r\n"8.8.8.8",\r\nhttp://example.net/#a',
    );
    expect(list).toMatchObject({ entries: 3, sample: "example.com" });
    expect(has(list, "http://example.net/#a")).toBe(true);
    expect(has(list, "8.8.8.8")).toBe(true);
  });

  test.each([
    "8.8.8.256",
    "8.8.8.0/33",
    "8.8.8.0-8.8.8.9",
    "a/b",
    "@",
    "d41d8cd98f00b204e9800998ecf8427e",
  ])("%s is an error with its line", async (entry) => {
    await expect(listOf(`example.com\n\n${entry}\n`)).rejects.toMatchObject({
      code: "exclusion_invalid",
      message: expect.stringMatching(/list, line 3: ".+" is not an address/) as string,
    });
  });
});

describe("a warning list of MISP", () => {
  const of = (type: string, ...list: string[]) => ({ name: "Ours", type, version: 1, list });

  test.each<[type: string, list: string[], held: string[], free: string[]]>([
    ["cidr", ["8.8.0.0/16", "2606:4700::1"], ["8.8.1.1", "2606:4700::1"], ["8.9.1.1"]],
    [
      "hostname",
      ["Example.com", ".example.net"],
      ["example.com", "a.example.com", "http://b.example.net/"],
      ["notexample.com"],
    ],
    [
      "string",
      ["Example.com", "8.8.8.8"],
      ["example.com", "http://example.com/a", "8.8.8.8", "::ffff:8.8.8.8"],
      ["a.example.com"],
    ],
    [
      "substring",
      ["bücher", "Corp"],
      ["www.bücher.example.com", "http://a.example.com/CORP/", "mycorp.example.com"],
      ["example.com"],
    ],
  ])("of type %s", async (type, entries, held, free) => {
    const list = await listOf(of(type, ...entries));
    expect([...held, ...free].filter((text) => has(list, text))).toEqual(held);
  });

  test.each([
    ["{", /it is not JSON/],
    [of("regex", "/a/"), /the type of the warning list "Ours" is regex/],
    [{ name: "a" }, /it is no warning list of MISP/],
    [of("cidr", "8.8.8.8", "nonsense"), /entry 2 of "Ours": "nonsense"/],
  ])("%j is an error", async (content, message) => {
    await expect(listOf(content)).rejects.toThrow(message);
  });
});

test("a list that cannot be read is missing, a folder, a device, too large, not text, or without entries", async () => {
  const folder = await temporaryFolder();
  const at = (name: string): string => join(folder, name);
  const contents = {
    nothing: "",
    blank: "\n \r\n",
    comments: "# ours\n# none yet\n",
    misp: JSON.stringify({ name: "a", type: "cidr", list: [""] }),
    latin: Buffer.from([0xff, 0xfe, 0x41]),
    large: "",
  };
  for (const [name, content] of Object.entries(contents)) await writeFile(at(name), content);
  await truncate(at("large"), 256 * 1024 * 1024 + 1);
  await mkdir(at("folder"));
  await symlink("/dev/zero", at("zero"));
  const empty = "it has no entries; did its download fail?";
  const faults = {
    nothing: empty,
    blank: empty,
    comments: empty,
    misp: empty,
    zero: "it is not a regular file",
    large: "it is larger than 256 MiB",
    none: "no such file",
    folder: "it is a folder",
    latin: "it is not UTF-8 text",
  };
  for (const [name, fault] of Object.entries(faults)) {
    await expect(readExclusions([at(name)])).rejects.toMatchObject({
      code: "exclusions_unreadable",
      message: `cannot read the exclusion list ${at(name)}: ${fault}`,
    });
  }
});

test("a file that is named twice is one list, however it is spelled", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "list");
  await writeFile(path, "8.8.8.8\n");
  const lists = await readExclusions([path, `${folder}/./list`, path]);
  expect(lists.map((list) => list.path)).toEqual([path]);
});
