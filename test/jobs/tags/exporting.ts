import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type ExportedTag,
  type ExportIndex,
  exportedTags,
  exportIndexSchema,
} from "../../../src/jobs/tags/export-folder.js";
import { openWithheld } from "../../../src/client/lookup/withheld.js";
import { exportTags } from "../../../src/jobs/tags/export-tags.js";
import type { ExportTagsOptions } from "../../../src/jobs/tags/options.js";
import { ManualClock } from "../../helpers/manual-clock.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { type Bend, type ServedList, startTagServer } from "./tag-server.js";

/**
 * Exports to one folder from a server with these lists, with a clock that stands still unless a test
 * moves it.
 */
export async function exporterOf(lists: Readonly<Record<string, ServedList>>, bend?: Bend) {
  const server = await startTagServer(lists, bend);
  const folder = join(await temporaryFolder(), "lists");
  const clock = new ManualClock();
  const warnings: string[] = [];
  return {
    server,
    folder,
    clock,
    warnings,
    run: async (options: Partial<ExportTagsOptions> = {}) =>
      exportTags({
        client: server.client,
        names: Object.keys(server.lists),
        folder,
        // The addresses of tests are those for documentation, which are reserved.
        withheld: await openWithheld({ bogons: "ask" }),
        clock,
        onWarning: (warning) => warnings.push(warning),
        ...options,
      }),
  };
}

/** The folder's index as a reader finds it, after checking every file that it names. */
export async function readExport(folder: string): Promise<ExportIndex> {
  const index = await readIndex(folder);
  await checkFiles(index, (file) => readFile(join(folder, index.generation, file)));
  return index;
}

export async function readIndex(folder: string): Promise<ExportIndex> {
  return exportIndexSchema.parse(JSON.parse(await readFile(join(folder, "index.json"), "utf8")));
}

/** Checks that the files are those of the index. */
export async function checkFiles(
  index: ExportIndex,
  read: (file: string) => Promise<Buffer>,
): Promise<void> {
  for (const { file, bytes, sha256 } of exportedTags(index).flatMap(({ files }) => files)) {
    const content = await read(file);
    const found = createHash("sha256").update(content).digest("hex");
    if (content.length !== bytes || found !== sha256) throw new Error(`${file} is another one`);
  }
}

/** The index entry of a tag with a list in the folder. */
export async function exportedTag(folder: string, name: string): Promise<ExportedTag> {
  const tag = exportedTags(await readExport(folder)).find((tag) => tag.name === name);
  if (!tag) throw new Error(`there is no ${name} in ${folder}`);
  return tag;
}

/** The lines of a file in the folder. */
export async function linesOf(folder: string, file: string): Promise<string[]> {
  const text = await readFile(join(folder, file), "utf8");
  return text.split("\n").slice(0, -1);
}
