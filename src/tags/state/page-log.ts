import { open, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { bytesOf, readFully } from "../address/list-bytes.js";
import type { ReadAddresses } from "../address/read-entries.js";
import { readJsonFile, writeJsonFile } from "../../core/files/json-file.js";
import { makeFolder } from "../../core/files/make-folder.js";
import { exportFault } from "../folder/export-fault.js";
import { type Pin, pinSchema } from "./pin.js";

/**
 * The pages of one tag's list that came so far, and the snapshot that they are of; kept on disk as
 * they come, so that neither the memory for a list nor the pages are lost or spent before its end.
 *
 * A page is a head of four words (IPv4 addresses, IPv6 addresses, CRC-32 of the addresses, a mark),
 * then the addresses. Whatever follows the last whole page is the trace of an interruption.
 */
export class PageLog {
  readonly pin: Pin;
  /** True when an earlier export began it. */
  readonly resumed: boolean;
  readonly #folder: string;
  readonly #handle: FileHandle;
  #bytes = 0;
  /** Where the last page begins. */
  #last: number | null = null;
  #pages = 0;
  #v4 = 0;
  #v6 = 0;

  private constructor(folder: string, handle: FileHandle, pin: Pin, resumed: boolean) {
    this.#folder = folder;
    this.#handle = handle;
    this.pin = pin;
    this.resumed = resumed;
  }

  /** Begins a log, in the place of one that is there. @throws FatalError when it cannot be written */
  static async begin(folder: string, pin: Pin): Promise<PageLog> {
    try {
      await rm(folder, { recursive: true, force: true });
      makeFolder(folder);
      await writeJsonFile(join(folder, pinFile), pin);
      return new PageLog(folder, await open(join(folder, pagesFile), "w+"), pin, false);
    } catch (error) {
      throw exportFault(folder, error);
    }
  }

  /** Opens a log that an earlier export left; null when there is none that makes sense. */
  static async resume(folder: string): Promise<PageLog | null> {
    const pin = await readPin(folder);
    if (pin === null) return null;
    const handle = await open(join(folder, pagesFile), "r+").catch(() => null);
    if (handle === null) return null;
    const log = new PageLog(folder, handle, pin, true);
    for (let page = await log.#readPage(log.#bytes); page; page = await log.#readPage(log.#bytes)) {
      log.#count(page);
    }
    return log;
  }

  get pages(): number {
    return this.#pages;
  }

  /** Entries so far: the offset of the next page. */
  get entries(): number {
    return this.#v4 + this.#v6;
  }

  /** Keeps a page. @throws FatalError when it cannot be written */
  async append(page: ReadAddresses): Promise<void> {
    const addresses = Buffer.concat([bytesOf(page.v4), bytesOf(page.v6)]);
    const head = Uint32Array.of(page.v4.length, page.v6.length / 4, crc32(addresses), mark);
    const bytes = Buffer.concat([bytesOf(head), addresses]);
    try {
      for (let done = 0; done < bytes.length;) {
        const position = this.#bytes + done;
        done += (await this.#handle.write(bytes, done, undefined, position)).bytesWritten;
      }
    } catch (error) {
      throw exportFault(join(this.#folder, pagesFile), error);
    }
    this.#count(page);
  }

  /** The page that came last; null before the first. */
  async lastPage(): Promise<ReadAddresses | null> {
    return this.#last === null ? null : this.#readPage(this.#last);
  }

  /** All addresses, in the order in which they came. @throws FatalError when they cannot be read */
  async read(): Promise<ReadAddresses> {
    const all = { v4: new Uint32Array(this.#v4), v6: new Uint32Array(this.#v6 * 4) };
    let v4 = 0;
    let v6 = 0;
    for (let position = 0; position < this.#bytes;) {
      const page = await this.#readPage(position);
      if (!page) throw exportFault(this.#folder, new Error("a page that was kept is gone"));
      all.v4.set(page.v4, v4);
      all.v6.set(page.v6, v6);
      v4 += page.v4.length;
      v6 += page.v6.length;
      position += sizeOf(page);
    }
    return all;
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  /** Closes and forgets it. */
  async remove(): Promise<void> {
    await this.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #count(page: ReadAddresses): void {
    this.#last = this.#bytes;
    this.#bytes += sizeOf(page);
    this.#pages += 1;
    this.#v4 += page.v4.length;
    this.#v6 += page.v6.length / 4;
  }

  async #readPage(position: number): Promise<ReadAddresses | null> {
    const head = new Uint32Array(4);
    if (!(await readFully(this.#handle, bytesOf(head), position))) return null;
    const [v4Count = 0, v6Count = 0, sum] = head;
    if (head[3] !== mark || v4Count + v6Count > mostEntries) return null;
    const words = new Uint32Array(v4Count + v6Count * 4);
    if (!(await readFully(this.#handle, bytesOf(words), position + headSize))) return null;
    if (crc32(bytesOf(words)) !== sum) return null;
    return { v4: words.subarray(0, v4Count), v6: words.subarray(v4Count) };
  }
}

/** What the log in a folder is of; null when there is none that makes sense. */
export async function readPin(folder: string): Promise<Pin | null> {
  const pin = pinSchema.safeParse(await readJsonFile(join(folder, pinFile)).catch(() => null));
  return pin.success ? pin.data : null;
}

const pinFile = "pin.json";
const pagesFile = "pages.bin";
const headSize = 16;
const mark = 0x70616765;

/** More than a page has, whatever the service makes of its limit: a body has 8 MiB at most. */
const mostEntries = 2 ** 22;

function sizeOf({ v4, v6 }: ReadAddresses): number {
  return headSize + v4.byteLength + v6.byteLength;
}
