import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { exportedTags, type ExportIndex } from "../../../src/jobs/tags/export-folder.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { checkFiles, readIndex } from "./exporting.js";
import { addresses, served, startTagServer } from "./tag-server.js";

const program = fileURLToPath(new URL("exporter.mjs", import.meta.url));
const letters = "abcdefghijklmnop";
const names = ["a:one", "b:two"];

/**
 * Exports other lists to one folder again and again while `look` reads it. Null from `look` means
 * that it was so slow that the generation it read is gone.
 */
async function whileExporting(look: Look): Promise<Set<string>> {
  let round = -1;
  const server = await startTagServer({}, (page, { tag }) => {
    if (tag === names[0] && round < letters.length - 1) setLists(++round);
    return { ...page, ...pageOf(server.lists[tag]!) };
  });
  const setLists = (at: number): void => {
    for (const [shift, name] of names.entries()) {
      const entries = addresses(4000 + at, at * 10 + shift);
      server.lists[name] = served(entries, letters.charAt(at));
    }
  };
  setLists(0);
  const folder = await temporaryFolder();
  const rounds = letters.length;
  const settings = JSON.stringify({ url: server.url, folder, names, rounds });
  const exporter = spawn(process.execPath, [program, settings], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  onTestFinished(() => void exporter.kill("SIGKILL"));
  const ended = once(exporter, "close");
  const seen = new Set<string>();
  let last = "";
  while (exporter.exitCode === null) {
    const letter = await look(folder);
    if (letter === null) continue;
    expect(letter >= last).toBe(true);
    last = letter;
    if (letter !== "") seen.add(letter);
  }
  expect(await ended).toEqual([0, null]);
  return seen;
}

type Look = (folder: string) => Promise<string | null>;

/** Ways to read: the letter of what was read, "" where there is nothing yet. */
const readers: Readonly<Record<string, Look>> = {
  "that follows the index reads all of one export": async (folder) => {
    const index = await indexIn(folder);
    return index === null ? "" : oneExport(join(folder, index.generation), index);
  },
  "that resolves `current` once reads all of one export": async (folder) => {
    const generation = await realpath(join(folder, "current")).catch(() => null);
    if (generation === null) return "";
    const index = await indexIn(generation);
    return index === null ? null : oneExport(generation, index);
  },
  "of plain names between two looks at the same index reads all of one export": async (folder) => {
    for (;;) {
      const before = await indexIn(folder);
      if (before === null) return "";
      const files = new Map<string, Buffer>();
      for (const { files: named } of exportedTags(before)) {
        for (const { file } of named) files.set(file, await readFile(join(folder, file)));
      }
      const after = await indexIn(folder);
      if (after?.generation !== before.generation) continue;
      return check(before, (file) => Promise.resolve(files.get(file)!));
    }
  },
  "of a single file reads all of it": async (folder) => {
    const text = await readFile(join(folder, "a--one.txt"), "utf8").catch(() => null);
    // The list of round n has 4000 + n entries.
    return text === null ? "" : letters.charAt(text.split("\n").length - 1 - 4000);
  },
};

test.each(Object.keys(readers))("a reader %s", async (name) => {
  expect((await whileExporting(readers[name]!)).size).toBeGreaterThan(1);
});

/** The entries of a complete list, all shorter than a page. */
function pageOf(list: ReturnType<typeof served>): object {
  const { entries, snapshot, lastUpdate } = list;
  return { entries, snapshot, lastUpdate, total: entries.length };
}

/** Null before the first export, or once it is gone. */
function indexIn(folder: string): Promise<ExportIndex | null> {
  return readIndex(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
}

async function oneExport(generation: string, index: ExportIndex): Promise<string | null> {
  try {
    return await check(index, (file) => readFile(join(generation, file)));
  } catch (error) {
    if (!existsSync(generation)) return null;
    throw error;
  }
}

/** The letter of the export that these files belong to, all as in the index. */
async function check(index: ExportIndex, read: (file: string) => Promise<Buffer>): Promise<string> {
  await checkFiles(index, read);
  const tags = exportedTags(index);
  expect(tags.map(({ name }) => name)).toEqual(names);
  const [one, two] = tags.map(({ snapshot }) => snapshot.charAt(0));
  expect(one).toBe(two);
  return one ?? "";
}
