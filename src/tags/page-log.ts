import { appendFile, readFile, rm, writeFile } from "node:fs/promises";
import { z } from "zod";
import { tagSchema } from "../api/schema/tag.js";
import { openSealedJson, sealJson } from "../core/files/json-file.js";
import { exportFault } from "./faults.js";

const pinSchema = z.object({
  version: z.literal(3),
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
 * The pages read of one tag's list, and their snapshot, in a file that survives an interruption. Its
 * first line is the pin, each other line a page, all with a checksum.
 */
export class PageLog {
  readonly pin: Pin;
  pages = 0;
  /** Entries so far, which is the offset of the next page. */
  entries = 0;
  /** Entries of the last page. */
  lastEntries: readonly string[] = [];
  readonly #path: string;

  private constructor(path: string, pin: Pin) {
    this.#path = path;
    this.pin = pin;
  }

  /** Starts a log, replacing any existing one. @throws FatalError if it cannot be written */
  static async begin(path: string, pin: Pin): Promise<PageLog> {
    await writeFile(path, `${sealJson(pin)}\n`).catch(faultOf(path));
    return new PageLog(path, pin);
  }

  /** Opens the log of an earlier export and cuts off what is incomplete; null if there is none. */
  static async resume(path: string): Promise<PageLog | null> {
    const lines = (await readFile(path, "utf8").catch(() => "")).split("\n");
    const pin = pinSchema.safeParse(openSealedJson(lines[0]!));
    if (!pin.success) return null;
    const log = new PageLog(path, pin.data);
    for (const line of lines.slice(1)) {
      const page = entriesIn(line);
      if (page === null) break;
      log.#count(page);
    }
    const whole = lines.slice(0, 1 + log.pages).map((line) => `${line}\n`);
    await writeFile(path, whole).catch(faultOf(path));
    return log;
  }

  /** Appends a page. @throws FatalError if it cannot be written */
  async append(entries: readonly string[]): Promise<void> {
    await appendFile(this.#path, `${sealJson({ entries })}\n`).catch(faultOf(this.#path));
    this.#count(entries);
  }

  /** All entries in order of arrival. @throws FatalError if they cannot be read */
  async read(): Promise<string[]> {
    const text = await readFile(this.#path, "utf8").catch(faultOf(this.#path));
    const pages = text
      .split("\n")
      .slice(1, 1 + this.pages)
      .map(entriesIn);
    if (pages.includes(null)) throw exportFault(this.#path, new Error("a stored page is damaged"));
    return pages.flatMap((page) => page ?? []);
  }

  async remove(): Promise<void> {
    await rm(this.#path, { force: true });
  }

  #count(entries: readonly string[]): void {
    this.pages += 1;
    this.entries += entries.length;
    this.lastEntries = entries;
  }
}

function entriesIn(line: string): readonly string[] | null {
  return (openSealedJson(line)?.["entries"] ?? null) as readonly string[] | null;
}

function faultOf(path: string): (error: unknown) => never {
  return (error) => {
    throw exportFault(path, error);
  };
}
