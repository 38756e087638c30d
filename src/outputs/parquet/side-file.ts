import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { outputFault } from "../output-fault.js";

/** A file beside the output that only grows: what a resumed run needs to go on. */
export class SideFile {
  readonly #path: string;
  readonly #handle: FileHandle;
  #length: number;

  private constructor(path: string, handle: FileHandle, length: number) {
    this.#path = path;
    this.#handle = handle;
    this.#length = length;
  }

  /**
   * @param keep bytes of an existing file to go on behind; null begins an empty one
   * @throws FatalError `output_*`
   */
  static async open(path: string, keep: number | null): Promise<SideFile> {
    try {
      const handle = await open(path, keep === null ? "w" : "r+", 0o600);
      if (keep !== null) await handle.truncate(keep);
      return new SideFile(path, handle, keep ?? 0);
    } catch (error) {
      throw outputFault(path, error);
    }
  }

  /** @throws FatalError `output_*` */
  async append(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    try {
      for (let done = 0; done < bytes.length;) {
        const { bytesWritten } = await this.#handle.write(bytes, done, undefined, this.#length);
        done += bytesWritten;
        this.#length += bytesWritten;
      }
    } catch (error) {
      throw outputFault(this.#path, error);
    }
  }

  /** @throws FatalError `output_*` */
  async sync(): Promise<void> {
    try {
      await this.#handle.datasync();
    } catch (error) {
      throw outputFault(this.#path, error);
    }
  }

  async close(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
  }
}
