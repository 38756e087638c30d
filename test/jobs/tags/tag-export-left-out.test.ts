import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openWithheld } from "../../../src/client/lookup/withheld.js";
import { exportedTags } from "../../../src/jobs/tags/export-folder.js";
import { exporterOf, readExport } from "./exporting.js";
import { served } from "./tag-server.js";
import { runRepute } from "../../helpers/run-repute.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

/** Lists of addresses in reserved ranges, of our own, and of others. */
const entries = [
  "8.8.8.8",
  "8.8.4.4",
  "9.9.9.9",
  "2606:4700::1111",
  "2620:fe::fe",
  "10.0.0.1",
  "192.168.1.1",
  "127.0.0.1",
  "::1",
  "fd00::1",
  "::ffff:10.1.1.1",
];

async function listOf(text: string): Promise<string> {
  const path = join(await temporaryFolder(), "corp.txt");
  await writeFile(path, text);
  return path;
}

describe("a list never has", () => {
  test("addresses in reserved ranges, in any format", async () => {
    const exporter = await exporterOf({ "a:b": served(entries) });
    const formats = ["txt", "csv", "ndjson", "cidr", "nft", "ipset"] as const;
    await exporter.run({ withheld: await openWithheld({}), formats });
    const [tag] = exportedTags(await readExport(exporter.folder));
    expect(tag).toMatchObject({ total: 5, left_out: { reserved: 6, excluded: [] }, added: 5 });
    for (const format of formats) {
      const text = await readFile(join(exporter.folder, `a--b.${format}`), "utf8");
      expect(text).toContain("9.9.9.9");
      expect(text).not.toMatch(/10\.0\.0\.1|10\.1\.1\.1|192\.168|127\.0|fd00|(?:^|[^\w:])::1/m);
    }
  });

  test("what exclusion lists name, and the index says so", async () => {
    const exclude = [await listOf("8.8.0.0/16\n2606:4700::/32\n10.0.0.1\n")];
    const exporter = await exporterOf({ "a:b": served(entries) });
    await exporter.run({ withheld: await openWithheld({ exclude }) });
    const [tag] = exportedTags(await readExport(exporter.folder));
    expect(tag?.left_out).toMatchObject({
      reserved: 5,
      excluded: [{ path: exclude[0], addresses: 4 }],
    });
    expect(await readFile(join(exporter.folder, "a--b.txt"), "utf8")).toBe(
      "9.9.9.9\n2620:fe::fe\n",
    );
  });
});

describe("a list that changes much", () => {
  const of = (count: number) => Array.from({ length: count }, (_, n) => `9.9.${n >> 8}.${n & 255}`);

  test.each<[before: number, now: number, maxChange: number | undefined, replaced: boolean]>([
    [100, 150, undefined, true],
    [100, 151, undefined, false],
    [100, 49, undefined, false],
    [99, 1, undefined, true],
    [99, 0, undefined, false],
    [1, 0, undefined, false],
    [1, 0, 0.99, false],
    [1, 0, 1, true],
    [100, 0, 1, true],
    [100, 111, 0.1, false],
  ])(
    "from %i to %i addresses, with %s allowed, is replaced: %s",
    async (before, now, maxChange, replaced) => {
      const exporter = await exporterOf({ "a:b": served(of(before)) });
      await exporter.run();
      exporter.server.lists["a:b"] = served(of(now), "b");
      const { tags } = await exporter.run(maxChange === undefined ? {} : { maxChange });
      const lines = (await readFile(join(exporter.folder, "a--b.txt"), "utf8")).split("\n");
      expect(lines.length - 1).toBe(replaced ? now : before);
      const { code = null, message = "" } = tags[0]?.error ?? {};
      expect(code).toBe(replaced ? null : "list_leapt");
      const told = `had ${before} address${before === 1 ? "" : "es"} and now has ${now}`;
      expect(message.includes(told)).toBe(!replaced);
    },
  );
});

test("tags export takes only tags of the given intents", async () => {
  const folder = join(await temporaryFolder(), "lists");
  const args = ["tags", "export", "--all", "-o", folder, "--local"];
  const namesOf = async (): Promise<string[]> =>
    (await readExport(folder)).tags.map(({ name }) => name);
  await runRepute(args);
  const all = await namesOf();
  const some = await runRepute([...args, "--intent", "malicious,suspicious"]);
  expect([some.code, some.stderr.includes("could not")]).toEqual([0, false]);
  const harmful = exportedTags(await readExport(folder));
  expect(harmful.length).toBeLessThan(all.length);
  expect(new Set(harmful.map(({ intent }) => intent))).toEqual(
    new Set(["malicious", "suspicious"]),
  );
});

test("a list that is left out whole is reported", async () => {
  const exporter = await exporterOf({ "a:b": served(["10.0.0.1", "192.0.2.1"]) });
  await exporter.run({ withheld: await openWithheld({}) });
  expect(exporter.warnings).toEqual([
    "the list of tag a:b is empty because all of its addresses are left out: 2 in reserved ranges (--bogons ask keeps them), 0 on exclusion lists",
  ]);
});

describe("a combined list", () => {
  const formats = ["txt", "csv", "ndjson", "cidr", "nft", "ipset"] as const;

  test("has the addresses of all tags once, in every format, with the same bytes while they stay", async () => {
    const lists = (letter: string) => ({
      "a:b": served(["9.9.9.10", "9.9.9.9", "2620:fe::fe"], letter),
      "c:d": served(["9.9.9.9", "9.9.9.2"], letter),
    });
    const exporter = await exporterOf(lists("a"));
    const read = () =>
      Promise.all(
        ["all", "a--b"].flatMap((name) =>
          formats.map((format) => readFile(join(exporter.folder, `${name}.${format}`), "utf8")),
        ),
      );
    const files = formats.map((format) => `all.${format}`);
    const combined = { name: "all", total: 4, files };
    expect(await exporter.run({ formats, combine: "all" })).toMatchObject({ combined });
    const before = await read();
    expect(before[0]).toBe("9.9.9.2\n9.9.9.9\n9.9.9.10\n2620:fe::fe\n");
    Object.assign(exporter.server.lists, lists("b"));
    await exporter.clock.advance(86_400_000);
    expect(await exporter.run({ formats, combine: "all" })).toMatchObject({ combined });
    expect(await read()).toEqual(before);
    expect((await readExport(exporter.folder)).combined).toMatchObject({ name: "all", total: 4 });
    expect(await exporter.run({ formats })).toMatchObject({ combined: null });
    await expect(read()).rejects.toThrow("ENOENT");
  });
});
