import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { tagSchema } from "../api/schema/tag.js";
import { openSealedJson, readJsonFile, sealJson, writeJsonFile } from "../core/files/json-file.js";
import { makeFolder } from "../core/files/make-folder.js";
import { widths, type ReadAddresses } from "./address/address-list.js";
import { exportFault } from "./faults.js";

const pinSchema = z.object({
  version: z.literal(2),
  /** SHA-256 of the service's address. Pages of another service cannot be continued. */
  source: z.string(),
  tag: z.string(),
  snapshot: z.string(),
  lastUpdate: z.string(),
  total: z.number(),
  /** When the first page arrived, RFC 3339 UTC. */
  pinnedAt: z.string(),
  about: tagSchema,
});

/** Identifies one reading of a tag's list: fixed by the first page, the same for all later ones. */
export type Pin = z.output<typeof pinSchema>;

/**
 * The pages read of one tag's list, and their snapshot. Kept on disk, which saves memory and
 * survives an interruption. Each page is a file with a checksum; an incomplete file counts as
 * missing.
 */
export class PageLog {
  readonly pin: Pin;
  /** True if an earlier export started it. */
  readonly resumed: boolean;
  pages = 0;
  /** The latest page. */
  lastPage: ReadAddresses | null = null;
  readonly #folder: string;
  readonly #words = { v4: 0, v6: 0 };

  private constructor(folder: string, pin: Pin, resumed: boolean) {
    this.#folder = folder;
    this.pin = pin;
    this.resumed = resumed;
  }

  /** Starts a log, replacing any existing one. @throws FatalError if it cannot be written */
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

  /** Opens the log of an earlier export; null if there is no valid one. */
  static async resume(folder: string): Promise<PageLog | null> {
    const pin = await readPin(folder);
    if (pin === null) return null;
    const log = new PageLog(folder, pin, true);
    for (let page = await log.#read(0); page !== null; page = await log.#read(log.pages)) {
      log.#count(page);
    }
    return log;
  }

  /** Entries so far, which is the offset of the next page. */
  get entries(): number {
    return this.#words.v4 / widths.v4 + this.#words.v6 / widths.v6;
  }

  /** Appends a page. @throws FatalError if it cannot be written */
  async append(page: ReadAddresses): Promise<void> {
    const path = this.#pathOf(this.pages);
    try {
      await writeFile(path, sealJson({ v4: [...page.v4], v6: [...page.v6] }));
    } catch (error) {
      throw exportFault(path, error);
    }
    this.#count(page);
  }

  /** All addresses in order of arrival. @throws FatalError if they cannot be read */
  async read(): Promise<ReadAddresses> {
    const all = { v4: new Uint32Array(this.#words.v4), v6: new Uint32Array(this.#words.v6) };
    const read = { v4: 0, v6: 0 };
    for (let number = 0; number < this.pages; number++) {
      const page = await this.#read(number);
      if (!page) throw exportFault(this.#folder, new Error("a stored page is missing"));
      for (const family of ["v4", "v6"] as const) {
        all[family].set(page[family], read[family]);
        read[family] += page[family].length;
      }
    }
    return all;
  }

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

/** Reads the pin of a log; null if there is no valid one. */
export async function readPin(folder: string): Promise<Pin | null> {
  const pin = pinSchema.safeParse(await readJsonFile(join(folder, pinFile)).catch(() => null));
  return pin.success ? pin.data : null;
}

const pinFile = "pin.json";
