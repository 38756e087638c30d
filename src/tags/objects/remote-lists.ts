import { createWriteStream } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import pLimit from "p-limit";
import { FatalError, ReputeError, UsageError } from "../../core/errors.js";
import { parseObjectAddress } from "../../objects/address.js";
import { listObjects } from "../../objects/list-objects.js";
import { putObject } from "../../objects/put-object.js";
import { pinObject, readObject, readText, readVersion } from "../../objects/read-object.js";
import { removeObject } from "../../objects/remove-object.js";
import { uploadObject } from "../../objects/upload-object.js";
import { exportFault } from "../faults.js";
import { exportedTags, type ExportIndex, exportIndexSchema } from "../folder/export-index.js";
import { indexName } from "../folder/generations.js";
import { listsFolder, storedListName } from "../folder/stored-list.js";

/** The current export of a place in object storage. */
export interface RemoteExport {
  readonly index: ExportIndex;
  /** Of its `index.json`. */
  readonly etag: string;
}

/** Files sent or fetched at a time. */
const parallel = 4;

/**
 * Tag lists in object storage.
 *
 * ```
 * s3://BUCKET/KEY/generations/20240101T030000Z/   one export; it never changes
 * s3://BUCKET/KEY/index.json                      of the newest export, which it names
 * s3://BUCKET/KEY/spam--bulk.txt …                copies of its lists
 * ```
 *
 * A new generation is uploaded first. `index.json` then makes it the current one, unless another
 * export was faster. The copies follow, each replaced at once.
 */
export class RemoteLists {
  readonly address: string;

  /** @throws UsageError `bad_object_address` */
  constructor(address: string) {
    this.address = address.replace(/\/+$/, "");
    parseObjectAddress(this.address);
  }

  /** The current export; null if there is none. @throws ReputeError */
  async current(): Promise<RemoteExport | null> {
    const address = this.#of(indexName);
    const found = await readVersion(address);
    if (found === null) return null;
    const index = parseIndex(found.text);
    if (index === null) {
      throw new UsageError("export_index_unreadable", `${address} is not an export index`, {
        hint: "restore it from a copy, or export to another place",
      });
    }
    return { index, etag: found.etag };
  }

  /** Names of the objects beside `index.json`, and those in generations, with their folders. */
  names(): Promise<readonly string[]> {
    return listObjects(this.#of(""));
  }

  /** The index of a generation; null if it is gone or damaged. */
  async indexOf(generation: string | null): Promise<ExportIndex | null> {
    const text = generation && (await readText(this.#of(`${generation}/${indexName}`)));
    return text === null ? null : parseIndex(text);
  }

  /** Copies a generation to a folder. What the place lacks is missing there, too. */
  async fetch({ generation, ...index }: ExportIndex, folder: string, there: readonly string[]) {
    const tags = exportedTags({ generation, ...index });
    const wanted = [
      indexName,
      ...tags.map(({ stem }) => `${listsFolder}/${storedListName(stem)}`),
      ...tags.flatMap(({ files }) => files.map(({ file }) => file)),
    ];
    const isThere = new Set(there);
    await each(wanted, async (name) => {
      const path = `${generation}/${name}`;
      if (isThere.has(path)) await download(this.#of(path), join(folder, path));
    });
  }

  /**
   * Makes the export in a folder the current one.
   *
   * @param before the export that it follows
   * @throws FatalError `export_overtaken`; ReputeError
   */
  async publish(
    index: ExportIndex,
    folder: string,
    before: RemoteExport | null,
    signal?: AbortSignal,
  ): Promise<void> {
    const { generation } = index;
    const text = await readFile(join(folder, generation, indexName), "utf8");
    const own = this.#of(`${generation}/${indexName}`);
    // Claims the name of the generation.
    const isFirst = await putObject(own, text, { only: "new" });
    if (!isFirst && (await readText(own)) !== text) throw this.#overtaken();
    const files = filesOf(index);
    const lists = exportedTags(index).map(({ stem }) => `${listsFolder}/${storedListName(stem)}`);
    await each([...lists, ...files], (name) =>
      upload(join(folder, generation, name), this.#of(`${generation}/${name}`), signal),
    );
    const address = this.#of(indexName);
    const only = before === null ? "new" : { etag: before.etag };
    const isCurrent = await putObject(address, text, { only });
    if (!isCurrent && (await readText(address)) !== text) throw this.#overtaken();
    await this.copyLists(index, folder, signal);
  }

  /** Replaces the copies of the current lists. */
  async copyLists(index: ExportIndex, folder: string, signal?: AbortSignal): Promise<void> {
    await each(filesOf(index), (name) =>
      upload(join(folder, index.generation, name), this.#of(name), signal),
    );
  }

  /** Names of the lists of every export that is still there. */
  async listsOf(names: readonly string[]): Promise<ReadonlySet<string>> {
    const lists = new Set<string>();
    for (const generation of generationsOf(names)) {
      for (const name of filesOf(await this.indexOf(generation))) lists.add(name);
    }
    return lists;
  }

  /** Removes lists that the current export lacks, then all generations but the newest `keep`. */
  async tidy(current: ExportIndex, keep: number): Promise<void> {
    const names = await this.names();
    const lists = await this.listsOf(names);
    const own = new Set(filesOf(current));
    const obsolete = names.filter((name) => lists.has(name) && !own.has(name));
    await each(obsolete, (name) => removeObject(this.#of(name)));
    const kept = new Set<string>();
    for (let index: ExportIndex | null = current; index !== null && kept.size < keep;) {
      kept.add(index.generation);
      const before: string | null = index.previous_generation;
      index = before === null || kept.has(before) ? null : await this.indexOf(before);
    }
    const old = names.filter((name) => {
      const generation = generationOf(name);
      return generation !== null && !kept.has(generation);
    });
    await each(old, (name) => removeObject(this.#of(name)));
  }

  #of(name: string): string {
    return `${this.address}/${name}`;
  }

  #overtaken(): FatalError {
    return new FatalError(
      "export_overtaken",
      `another export to ${this.address} was published meanwhile`,
      { hint: "repeat the command" },
    );
  }
}

/** Names of the lists that have a copy beside `index.json`. */
function filesOf(index: ExportIndex | null): string[] {
  return exportedTags(index).flatMap(({ files }) => files.map(({ file }) => file));
}

/** The generations that objects belong to. */
export function generationsOf(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.flatMap((name) => generationOf(name) ?? []));
}

/** The generation that an object belongs to; null for the others. */
function generationOf(name: string): string | null {
  return /^generations\/[^/]+(?=\/)/.exec(name)?.[0] ?? null;
}

function parseIndex(text: string): ExportIndex | null {
  try {
    return exportIndexSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

async function each(names: readonly string[], run: (name: string) => Promise<void>): Promise<void> {
  const limit = pLimit(parallel);
  await Promise.all(names.map((name) => limit(run, name)));
}

function upload(path: string, address: string, signal: AbortSignal | undefined): Promise<void> {
  return uploadObject({ path, address, journal: `${path}.upload`, signal });
}

async function download(address: string, path: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await pipeline(readObject(await pinObject(address)), createWriteStream(path));
  } catch (error) {
    throw error instanceof ReputeError ? error : exportFault(path, error);
  }
}
