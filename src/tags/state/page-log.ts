import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { tagSchema } from "../../api/schema/tag.js";
import {
  openSealedJson,
  readJsonFile,
  sealJson,
  writeJsonFile,
} from "../../core/files/json-file.js";
import { makeFolder } from "../../core/files/make-folder.js";
import { widths } from "../address/address-list.js";
import type { ReadAddresses } from "../address/address-text.js";
import { exportFault } from "../faults.js";

const pinSchema = z.object({
  version: z.literal(2),
  /** SHA-256 of the service's address: another service's pages are of no use. */
  source: z.string(),
  tag: z.string(),
  snapshot: z.string(),
  lastUpdate: z.string(),
  total: z.number(),
  /** When the first page came; RFC 3339 UTC. */
  pinnedAt: z.string(),
  about: tagSchema,
});

/** What one reading of a tag's list is of: fixed by its first page, the same for all that follow. */
export type Pin = z.output<typeof pinSchema>;

/**
 * The pages of one tag's list that came so far, and the snapshot that they are of; kept on disk as
 * they come, so that neither the memory for a list nor the pages are lost or spent before its end.
 * Each page is a file with a checksum: one that is not whole has not come.
 */
export class PageLog {
  readonly pin: Pin;
  /** True when an earlier export began it. */
  readonly resumed: boolean;
  pages = 0;
  /** The page that came last. */
  lastPage: ReadAddresses | null = null;
  readonly #folder: string;
  readonly #words = { v4: 0, v6: 0 };

  private constructor(folder: string, pin: Pin, resumed: boolean) {
    this.#folder = folder;
    this.pin = pin;
    this.resumed = resumed;
  }

  /** Begins a log, in the place of one that is there. @throws FatalError when it cannot be written */
  static async begin(folder: string, pin: Pin): Promise<PageLog> {
    try {
      await rm(folder, { recursive: true, force: true });
      makeFolder(folder);
      await writeJsonFile(join(folder, pinFile), pin);
      return new PageLog(folder, pin, false);
    } catch (error) {
      throw exportFault(folder, error);
    }
  }

  /** Opens a log that an earlier export left; null when there is none that makes sense. */
  static async resume(folder: string): Promise<PageLog | null> {
    const pin = await readPin(folder);
    if (pin === null) return null;
    const log = new PageLog(folder, pin, true);
    for (let page = await log.#read(0); page !== null; page = await log.#read(log.pages)) {
      log.#count(page);
    }
    return log;
  }

  /** Entries so far: the offset of the next page. */
  get entries(): number {
    return this.#words.v4 / widths.v4 + this.#words.v6 / widths.v6;
  }

  /** Keeps a page. @throws FatalError when it cannot be written */
  async append(page: ReadAddresses): Promise<void> {
    const path = this.#pathOf(this.pages);
    try {
      await writeFile(path, sealJson({ v4: [...page.v4], v6: [...page.v6] }));
    } catch (error) {
      throw exportFault(path, error);
    }
    this.#count(page);
  }

  /** All addresses, in the order in which they came. @throws FatalError when they cannot be read */
  async read(): Promise<ReadAddresses> {
    const all = { v4: new Uint32Array(this.#words.v4), v6: new Uint32Array(this.#words.v6) };
    const read = { v4: 0, v6: 0 };
    for (let number = 0; number < this.pages; number++) {
      const page = await this.#read(number);
      if (!page) throw exportFault(this.#folder, new Error("a page that was kept is gone"));
      for (const family of ["v4", "v6"] as const) {
        all[family].set(page[family], read[family]);
        read[family] += page[family].length;
      }
    }
    return all;
  }

  /** Forgets it. */
  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  #count(page: ReadAddresses): void {
    this.lastPage = page;
    this.pages += 1;
    this.#words.v4 += page.v4.length;
    this.#words.v6 += page.v6.length;
  }

  async #read(number: number): Promise<ReadAddresses | null> {
    const text = await readFile(this.#pathOf(number), "utf8").catch(() => "");
    const page = openSealedJson(text) as Record<"v4" | "v6", readonly number[]> | null;
    return page && { v4: Uint32Array.from(page.v4), v6: Uint32Array.from(page.v6) };
  }

  #pathOf(page: number): string {
    return join(this.#folder, `page-${page}.json`);
  }
}

/** What the log in a folder is of; null when there is none that makes sense. */
export async function readPin(folder: string): Promise<Pin | null> {
  const pin = pinSchema.safeParse(await readJsonFile(join(folder, pinFile)).catch(() => null));
  return pin.success ? pin.data : null;
}

const pinFile = "pin.json";
