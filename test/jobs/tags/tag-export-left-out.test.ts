import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openWithheld } from "../../../src/client/lookup/withheld.js";
import { exportedTags, tagFormats } from "../../../src/jobs/tags/export-folder.js";
import { exporterOf, linesOf, readExport } from "./exporting.js";
import { served } from "./tag-server.js";
import { runRepute } from "../../helpers/run-repute.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

/** Public addresses and those in reserved ranges. */
const entries = [
  ..."8.8.8.8 8.8.4.4 9.9.9.9 2606:4700::1111 2620:fe::fe".split(" "),
  ..."10.0.0.1 192.168.1.1 127.0.0.1 ::1 fd00::1 ::ffff:10.1.1.1".split(" "),
];

async function listOf(text: string): Promise<string> {
  const path = join(await temporaryFolder(), "corp.txt");
  await writeFile(path, text);
  return path;
}

test("a list never has addresses in reserved ranges, or what exclusion lists name", async () => {
  const corp = await listOf("8.8.0.0/16\n2606:4700::/32\n10.0.0.1\n");
  const { folder, run } = await exporterOf({ "a:b": served(entries) });
  await run({ withheld: await openWithheld({}), formats: tagFormats });
  const [tag] = exportedTags(await readExport(folder));
  expect(tag).toMatchObject({ total: 5, left_out: { reserved: 6, excluded: [] }, added: 5 });
  for (const format of tagFormats) {
    const text = await readFile(join(folder, `a--b.${format}`), "utf8");
    expect(text).toContain("9.9.9.9");
    expect(text).not.toMatch(/10\.0\.0\.1|10\.1\.1\.1|192\.168|127\.0|fd00|(?:^|[^\w:])::1/m);
  }
  await run({ withheld: await openWithheld({ exclude: [corp] }) });
  const [fewer] = exportedTags(await readExport(folder));
  const left_out = { reserved: 5, excluded: [{ path: corp, addresses: 4 }] };
  expect(fewer).toMatchObject({ total: 2, left_out });
  expect(await linesOf(folder, "a--b.txt")).toEqual(["9.9.9.9", "2620:fe::fe"]);
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
      const { folder, run, server } = await exporterOf({ "a:b": served(of(before)) });
      await run();
      server.lists["a:b"] = served(of(now), "b");
      const { tags } = await run(maxChange === undefined ? {} : { maxChange });
      expect(await linesOf(folder, "a--b.txt")).toHaveLength(replaced ? now : before);
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

test("a combined list has the addresses of all tags once, in every format, with the same bytes while they stay", async () => {
  const lists = (letter: string) => ({
    "a:b": served(["9.9.9.10", "9.9.9.9", "2620:fe::fe"], letter),
    "c:d": served(["9.9.9.9", "9.9.9.2"], letter),
  });
  const { clock, folder, run, server } = await exporterOf(lists("a"));
  const files = tagFormats.map((format) => `all.${format}`);
  const read = () =>
    Promise.all(
      [...files, ...tagFormats.map((format) => `a--b.${format}`)].map((file) =>
        readFile(join(folder, file), "utf8"),
      ),
    );
  const [formats, combined] = [tagFormats, { name: "all", total: 4, files }];
  expect(await run({ formats, combine: "all" })).toMatchObject({ combined });
  const before = await read();
  expect(before[0]).toBe("9.9.9.2\n9.9.9.9\n9.9.9.10\n2620:fe::fe\n");
  Object.assign(server.lists, lists("b"));
  await clock.advance(86_400_000);
  expect(await run({ formats, combine: "all" })).toMatchObject({ combined });
  expect(await read()).toEqual(before);
  expect((await readExport(folder)).combined).toMatchObject({ name: "all", total: 4 });
  expect(await run({ formats })).toMatchObject({ combined: null });
  await expect(read()).rejects.toThrow("ENOENT");
});
