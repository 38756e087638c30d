import * as fs from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { FatalError, ReputeError, UsageError } from "../../core/errors.js";
import { readJsonFile, writeJsonFile } from "../../core/files/json-file.js";
import { makeFolder, privateFolder, syncFolder } from "../../core/files/folders.js";
import { faultReason } from "../../core/files/system-fault.js";
import { takeLock } from "../../core/files/run-lock.js";
import { isObjectAddress } from "../../io/s3/address.js";
import { type AddressList, readAddresses } from "./address-list.js";

/** Formats of a tag's list. Each is also the extension of its file. */
export const tagFormats = ["txt", "csv", "ndjson", "cidr", "nft", "ipset"] as const;

/** A file name. The index may have been edited, so paths are rejected. */
const fileName = z.string().regex(/^[A-Za-z0-9%_][A-Za-z0-9._%-]*$/);

const generation = z.string().regex(/^generations\/[A-Za-z0-9-]+$/);

const count = z.number().int().nonnegative();

const failure = z.object({ code: z.string(), message: z.string() });

const exportedFile = z.object({
  /** `added` and `removed`: differences from the previous list, as text. */
  format: z.enum([...tagFormats, "added", "removed"]),
  /** Name in the generation's folder and in the export's folder. */
  file: fileName,
  bytes: count,
  sha256: z.string(),
});

const exportedTag = z.object({
  name: z.string(),
  /**
   * Result for the tag: `exported`; `unchanged`, with the same addresses as before; `failed`, so
   * its earlier list stays; `kept`, because it was not requested and its earlier list stays.
   */
  status: z.enum(["exported", "unchanged", "failed", "kept"]),
  error: failure.nullable(),
  description: z.string().nullable(),
  intent: z.string().nullable(),
  category: z.string().nullable(),
  snapshot: z.string(),
  /** When the list was read (its snapshot was pinned), RFC 3339 UTC. */
  exported_at: z.string(),
  /** As received from the service. */
  lastUpdate: z.string(),
  /** Addresses in the list. The service's own total also has those that are left out. */
  total: count,
  /** What is not in the list, and why: addresses in reserved ranges, and those on exclusion lists. */
  left_out: z.object({
    reserved: count.nullable(),
    excluded: z.array(z.object({ path: z.string(), sha256: z.string(), addresses: count })),
  }),
  /** Digest of the list as text, one address per line: that of the `.txt` file, if written. */
  sha256: z.string(),
  /** Since the previous export; a first one adds all. */
  added: count,
  removed: count,
  /** Prefix of the tag's file names. */
  stem: fileName,
  /** Names of the sets in the firewall formats; each holds one family. */
  sets: z.object({ ipv4: z.string(), ipv6: z.string() }),
  files: z.array(exportedFile),
});

/** All lists of an export together, without duplicates (`--combine`). */
const combinedList = exportedTag
  .pick({ total: true, sets: true, files: true })
  .extend({ name: fileName });

export const exportIndexSchema = z.object({
  schema: z.literal(1),
  /** When the export was published, RFC 3339 UTC. */
  exported_at: z.string(),
  /** Run that the export belongs to; absent for `tags export`. */
  run_id: z.string().optional(),
  /** Path of the generation within the export's folder. Its contents never change. */
  generation,
  /** The previous generation, which may have been removed. */
  previous_generation: generation.nullable(),
  combined: combinedList.optional(),
  /** Sorted by name. */
  tags: z.array(
    z.union([
      exportedTag,
      // One that failed and has no earlier list.
      z.object({ name: z.string(), status: z.literal("failed"), error: failure }),
    ]),
  ),
});

export type ExportIndex = z.output<typeof exportIndexSchema>;
export type ExportedTag = z.output<typeof exportedTag>;
type IndexedTag = ExportIndex["tags"][number];

export function hasList(tag: IndexedTag): tag is ExportedTag {
  return "snapshot" in tag;
}

export function exportedTags(index: ExportIndex | null): ExportedTag[] {
  return index?.tags.filter((tag) => hasList(tag)) ?? [];
}

/** Name of a tag's list as text, which a generation has whatever the formats are. */
export function listName(stem: string): string {
  return `${stem}.txt`;
}

/** Every file of a tag ends in one of these. */
const fileEndings = [...tagFormats, "added.txt", "removed.txt"] as const;

/**
 * A folder of tag lists.
 *
 * ```
 * DIR/generations/.lock               keeps other exports out; it stays
 * DIR/generations/20240101T030000Z/   index.json, spam--bulk.txt …: one export; it never changes
 * DIR/current                         -> generations/20240101T030000Z
 * DIR/index.json, DIR/spam--bulk.txt  -> current/index.json, current/spam--bulk.txt
 * ```
 *
 * An export is built elsewhere and moved to `generations/` as a whole. Readers see the change in
 * one step, when a new `current` is renamed over the old one (Kubernetes updates config map volumes
 * the same way). Until then, names that only the new export has are dangling links.
 *
 * To read several files of one export, follow `generation` in `index.json`, or resolve `current`
 * once.
 */
export class ExportFolder {
  readonly path: string;
  /** Folder of the generation under construction. An interrupted export starts over. */
  readonly next: string;
  /** Has the generation under construction, and what is about to be deleted or moved. */
  readonly #state: string;
  #unlock: (() => void) | null = null;

  private constructor(path: string) {
    this.path = path;
    this.#state = join(path, ".export.state");
    this.next = join(this.#state, "next");
  }

  /**
   * Opens and locks a folder, and creates it if necessary.
   *
   * @throws UsageError `export_to_objects` for an `s3://` address, `export_folder_in_use` if foreign
   *   files occupy names that an export needs, `output_locked` while another export writes there;
   *   FatalError
   */
  static async open(path: string): Promise<ExportFolder> {
    const folder = await ExportFolder.#find(path);
    try {
      folder.#unlock = await takeLock(join(path, generations, ".lock"));
      await folder.#clear();
      await fs.mkdir(folder.next, { recursive: true, ...privateFolder });
      return folder;
    } catch (error) {
      await folder.release();
      throw exportFault(path, error);
    }
  }

  /** Checks early that a folder can take an export. */
  static async check(path: string): Promise<void> {
    assertLocal(path);
    const made = await fs.mkdir(path, { recursive: true }).catch(() => undefined);
    await (await ExportFolder.#find(path)).current();
    // A run that exports nothing must leave no folder.
    if (made !== undefined) await fs.rm(made, { recursive: true });
  }

  static async #find(path: string): Promise<ExportFolder> {
    assertLocal(path);
    try {
      makeFolder(join(path, generations));
    } catch (error) {
      const hint = "choose a writable folder with -o, or with --tag-ips for a run";
      throw exportFault(path, error, hint);
    }
    const folder = new ExportFolder(path);
    for (const name of [indexName, currentName]) {
      if (await folder.#isFree(name)) continue;
      const message = `${join(path, name)} exists and does not belong to an export`;
      const hint = `export to another folder, or move ${name} away`;
      throw new UsageError("export_folder_in_use", message, { hint });
    }
    return folder;
  }

  async release(): Promise<void> {
    if (this.#unlock === null) return;
    await this.#clear().catch(() => undefined);
    this.#unlock();
  }

  #clear(): Promise<void> {
    return fs.rm(this.#state, { recursive: true, force: true });
  }

  /**
   * The index of the current export; null if there is none.
   *
   * @throws UsageError `export_index_unreadable`
   */
  async current(): Promise<ExportIndex | null> {
    const generation = await fs.readlink(join(this.path, currentName)).catch(() => null);
    if (generation === null) return null;
    const path = join(this.path, generation, indexName);
    try {
      const value = await readJsonFile(path);
      const index = value === null ? null : exportIndexSchema.parse(value);
      if (index === null || index.generation === generation) return index;
      throw new Error(`it is the index of ${index.generation}`);
    } catch (cause) {
      const message = `cannot read ${path}: not a valid export index`;
      const hint = "restore it from a backup, or export to another folder";
      throw new UsageError("export_index_unreadable", message, { cause, hint });
    }
  }

  /** A tag's addresses in the current export; null if they cannot be read. */
  async listOf({ stem, total }: ExportedTag): Promise<AddressList | null> {
    return readAddresses(join(this.path, currentName, listName(stem)), total);
  }

  /** True if no foreign file occupies the names of a tag's files. */
  async canUse(stem: string): Promise<boolean> {
    for (const ending of fileEndings) {
      if (!(await this.#isFree(`${stem}.${ending}`))) return false;
    }
    return true;
  }

  /** An unused name for a generation created now. */
  async generationName(now: number): Promise<string> {
    const stamp = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, "");
    for (let number = 1; ; number++) {
      const name = `${generations}/${stamp}${number === 1 ? "" : `-${number}`}`;
      if ((await fs.lstat(join(this.path, name)).catch(() => null)) === null) return name;
    }
  }

  /** Carries a tag's files over to the next generation. @returns false if some of them are gone */
  async carryOver(generation: string, tag: ExportedTag): Promise<boolean> {
    const from = join(this.path, generation);
    const names = new Set([listName(tag.stem), ...tag.files.map(({ file }) => file)]);
    try {
      for (const file of names) await shareFile(join(from, file), join(this.next, file));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      return false;
    }
  }

  /** Makes the next generation the current one. If this fails, the previous one stays current. */
  async publish(index: ExportIndex): Promise<void> {
    await writeJsonFile(join(this.next, indexName), index);
    await syncFolder(this.next);
    await fs.rename(this.next, join(this.path, index.generation));
    await syncFolder(join(this.path, generations));
    for (const name of namesOf(index)) {
      if (!(await this.#isOurs(name))) await fs.symlink(linkTo(name), join(this.path, name));
    }
    const fresh = join(this.#state, currentName);
    await fs.symlink(index.generation, fresh);
    await fs.rename(fresh, join(this.path, currentName));
    await syncFolder(this.path);
  }

  /**
   * Removes links to files that no longer exist, and all generations but the current one and the one
   * before it, for readers that still use it.
   */
  async tidy(current: ExportIndex | null): Promise<void> {
    const names = new Set(current ? namesOf(current) : []);
    for (const entry of await fs.readdir(this.path, { withFileTypes: true })) {
      const { name } = entry;
      if (!entry.isSymbolicLink() || name === currentName || names.has(name)) continue;
      if (await this.#isOurs(name)) await fs.unlink(join(this.path, name));
    }
    // If `current` is lost, keep all generations: the user may need to recover one.
    if (current === null) return;
    // Follows the link in the index, not dates, because clocks can be set back.
    const kept = new Set([current.generation, current.previous_generation]);
    for (const name of await fs.readdir(join(this.path, generations))) {
      const generation = `${generations}/${name}`;
      if (kept.has(generation) || !generationForm.test(generation)) continue;
      // Rename first, so that the generation disappears in one step.
      await fs.rename(join(this.path, generation), join(this.#state, name));
      await fs.rm(join(this.#state, name), { recursive: true, force: true });
    }
  }

  async #isFree(name: string): Promise<boolean> {
    const found = await fs.lstat(join(this.path, name)).catch(() => null);
    return found === null || this.#isOurs(name);
  }

  async #isOurs(name: string): Promise<boolean> {
    const target = await fs.readlink(join(this.path, name)).catch(() => "");
    return name === currentName ? generationForm.test(target) : target === linkTo(name);
  }
}

const indexName = "index.json";
const currentName = "current";
const generations = "generations";

/** Path of a generation within the export's folder. */
const generationForm = /^generations\/\d{8}T\d{6}Z(?:-\d+)?$/;

function linkTo(name: string): string {
  return `${currentName}/${name}`;
}

/** Files of an export that get a link in the folder. */
function namesOf(index: ExportIndex): string[] {
  const lists = [...exportedTags(index), ...(index.combined === undefined ? [] : [index.combined])];
  return [indexName, ...lists.flatMap(({ files }) => files.map(({ file }) => file))];
}

/** Links a file under another name, or copies it if the file system cannot link. */
async function shareFile(from: string, to: string): Promise<void> {
  await fs.link(from, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") throw error;
    return fs.copyFile(from, to);
  });
}

function assertLocal(path: string): void {
  if (!isObjectAddress(path)) return;
  throw new UsageError("export_to_objects", `tag lists go to a folder, not to ${path}`, {
    hint: `export to a folder, then run: aws s3 sync DIR ${path}`,
  });
}

/** Explains an error of the system or of the lock; any other one is returned as it is. */
export function exportFault(
  path: string,
  error: unknown,
  hint = "fix that and run again: the folder still holds the previous export",
): unknown {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  if (error instanceof ReputeError || typeof code !== "string") return error;
  const message = `cannot write ${path}: ${faultReason(error)}`;
  return new FatalError("export_unwritable", message, { cause: error, hint });
}
