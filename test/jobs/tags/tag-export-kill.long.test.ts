import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { seededHash } from "../../../src/core/seeded-hash.js";
import { type ExportedTag, exportedTags } from "../../../src/jobs/tags/export-folder.js";
import { startExporter } from "./exporter-process.js";
import { exporterOf, readExport } from "./exporting.js";
import { addresses, type ServedList, served } from "./tag-server.js";

/** Entries of each tag. */
const sizes = { "a:one": 75_000, "b:two": 25_000, "c:three": 5 };
const names = Object.keys(sizes);
const parallel = 2;

/** Maximum number of killed attempts per night. */
const mostKills = 12;

/** The lists of the service on a night; no two nights are alike. */
function night(letter: string): Record<string, ServedList> {
  const from = letter.charCodeAt(0);
  return Object.fromEntries(
    Object.entries(sizes).map(([name, size]) => [name, served(addresses(size, from), letter)]),
  );
}

test("an export killed at random pages leaves a complete export", async () => {
  let onPage: () => void = () => {};
  const { server, folder, run } = await exporterOf(night("a"), (page) => {
    onPage();
    return page;
  });
  await run();

  let kills = 0;
  for (const letter of ["b", "c"]) {
    Object.assign(server.lists, night(letter));
    for (let attempt = 0; ; attempt++) {
      const dice = seededHash(20_240_101, letter, attempt);
      // Kills at the request for a page, or at a report: a page, the writing or the end of a tag.
      const atPage = dice % 2 === 0;
      let left = attempt < mostKills ? 1 + ((dice >>> 1) % (atPage ? 4 : 8)) : Infinity;
      const countDown = () => {
        left -= 1;
        if (left === 0) exporter.child.kill("SIGKILL");
      };
      onPage = atPage ? countDown : () => {};
      const settings = { url: server.url, folder, names, parallel };
      const exporter = startExporter(settings, atPage ? undefined : countDown);
      await exporter.ended;
      if (exporter.child.signalCode !== null) kills++;
      const now = await wholeExport(folder);
      expect([letter, previousOf(letter)]).toContain(now);
      if (now === letter) break;
    }
  }
  // About fourteen with this seed; a late kill may let one more pass.
  expect(kills).toBeGreaterThan(2);
});

function previousOf(letter: string): string {
  return String.fromCharCode(letter.charCodeAt(0) - 1);
}

/** The letter of the night that a folder holds, which must be complete and unmixed. */
async function wholeExport(folder: string): Promise<string> {
  const tags = exportedTags(await readExport(folder));
  expect(tags.map(({ name }) => name)).toEqual(names);
  const letters = new Set(tags.map(({ snapshot }) => snapshot.charAt(0)));
  expect(letters.size).toBe(1);
  for (const tag of tags) await expectPlainNames(folder, tag);
  const known = new Set(tags.flatMap(({ files }) => files.map(({ file }) => file)));
  const others = (await readdir(folder)).filter((name) => !known.has(name));
  const own = new Set([".export.state", "current", "generations", "index.json"]);
  expect(others.filter((name) => !own.has(name))).toEqual([]);
  return [...letters].join("");
}

async function expectPlainNames(folder: string, { files, total }: ExportedTag): Promise<void> {
  for (const { file, sha256, format } of files) {
    const content = await readFile(join(folder, file));
    expect(createHash("sha256").update(content).digest("hex")).toBe(sha256);
    if (format === "txt") expect(content.toString().split("\n")).toHaveLength(total + 1);
  }
}
