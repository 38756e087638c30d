import { open, type FileHandle, readFile } from "node:fs/promises";
import { outputFault } from "../output-fault.js";
import { crc32 } from "node:zlib";
import { FatalError } from "../../core/errors.js";

/** A file beside the output that only grows: what a resumed run needs to go on. */
export class SideFile {
  readonly #path: string;
  readonly #handle: FileHandle;

  private constructor(path: string, handle: FileHandle) {
    this.#path = path;
    this.#handle = handle;
  }

  /**
   * @param keep bytes of an existing file to go on behind; null begins an empty one
   * @throws FatalError `output_*`
   */
  static async open(path: string, keep: number | null): Promise<SideFile> {
    try {
      const handle = await open(path, keep === null ? "w" : "a", 0o600);
      if (keep !== null) await handle.truncate(keep);
      return new SideFile(path, handle);
    } catch (error) {
      throw outputFault(path, error);
    }
  }

  /** @throws FatalError `output_*` */
  async append(text: string): Promise<void> {
    await this.#handle.appendFile(text).catch(this.#refuse);
  }

  /** @throws FatalError `output_*` */
  async sync(): Promise<void> {
    await this.#handle.datasync().catch(this.#refuse);
  }

  async close(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
  }

  readonly #refuse = (error: unknown): never => {
    throw outputFault(this.#path, error);
  };
}

/** A text without line feed as a line with its CRC-32 before it. */
export function checkedLine(text: string): string {
  return `${checksumOf(text)} ${text}\n`;
}

/** Digits of a checksum and the space behind it. */
const headBytes = 9;

/** Reads lines that `checkedLine` made. */
export class CheckedLines {
  readonly #path: string;
  readonly #bytes: Buffer;
  #length = 0;
  #lines = 0;

  private constructor(path: string, bytes: Buffer) {
    this.#path = path;
    this.#bytes = bytes;
  }

  /** @throws FatalError `output_state_damaged` when there is no file, `output_*` */
  static async read(path: string): Promise<CheckedLines> {
    try {
      return new CheckedLines(path, await readFile(path));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw outputFault(path, error);
      throw new FatalError("output_state_damaged", `${path} is missing`, { cause: error, hint });
    }
  }

  /** Bytes of the lines that were read. */
  get length(): number {
    return this.#length;
  }

  /** Lines that were read. */
  get lines(): number {
    return this.#lines;
  }

  /** The next line's text. @throws FatalError `output_state_damaged` */
  next(): string {
    const end = this.#bytes.indexOf(0x0a, this.#length);
    if (end < 0) throw sideFileDamaged(this.#path, "it ends too early", this);
    const head = this.#bytes.toString("latin1", this.#length, this.#length + headBytes);
    const text = this.#bytes.toString("utf8", this.#length + headBytes, end);
    if (head !== `${checksumOf(text)} `) {
      throw sideFileDamaged(this.#path, "the line's checksum is wrong", this);
    }
    this.#length = end + 1;
    this.#lines++;
    return text;
  }
}

const hint = "start anew with --restart";

/** What is said of such a file when its next line is not as it was written. */
export function sideFileDamaged(
  path: string,
  what: string,
  { lines, length }: CheckedLines,
): FatalError {
  const message = `${path} is damaged at line ${lines + 1} (byte ${length}): ${what}`;
  return new FatalError("output_state_damaged", message, { hint });
}

function checksumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}
