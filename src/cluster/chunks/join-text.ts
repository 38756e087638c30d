import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { hashFile } from "../../core/files/file-hash.js";
import type { Destination } from "../../outputs/types.js";
import type { MergedRows } from "./merged-rows.js";
import { fileDifference, type ResultFile } from "./chunk-result.js";

const compress = promisify(gzip);

/** Bytes of a compressed member, as in the output of a run. */
const memberBytes = 1024 * 1024;

export interface JoinTextOptions {
  readonly destination: Destination;
  /** Start of every file; kept of the first one. */
  readonly header: string;
  readonly gzip: boolean;
  /** Edits the rows on their way. @default they stay as they are */
  readonly rows?: MergedRows | null;
}

/** Joins files of text with a common header. */
export class TextJoin {
  readonly #options: JoinTextOptions;
  readonly #header: Buffer;
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  constructor(options: JoinTextOptions) {
    this.#options = options;
    this.#header = Buffer.from(options.header, "utf8");
  }

  /** Writes the header. */
  async begin(): Promise<void> {
    await this.#write(this.#header);
  }

  /**
   * Appends a file without its header.
   *
   * @returns what is wrong with it, or null
   */
  async add(path: string, file: ResultFile): Promise<string | null> {
    const header = this.#header;
    let head: Buffer = Buffer.alloc(0);
    const found = await hashFile(path, async (chunk) => {
      const missing = header.length - head.length;
      head = Buffer.concat([head, chunk.subarray(0, missing)]);
      const rest = chunk.subarray(missing);
      if (rest.length > 0) await this.#write(this.#options.rows?.edit(rest) ?? rest);
    });
    const differs = fileDifference(found, file);
    if (differs !== null) return differs;
    return head.equals(header) ? null : `${file.file} has another header`;
  }

  /** Writes what is left. */
  async end(): Promise<void> {
    if (!this.#options.gzip) return;
    // An empty file is not valid gzip (RFC 1952, section 2.2); an empty member is.
    if (this.#pendingBytes > 0 || this.#options.destination.length === 0) await this.#flush();
  }

  async #write(bytes: Buffer): Promise<void> {
    if (!this.#options.gzip) return this.#options.destination.write(bytes);
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes >= memberBytes) await this.#flush();
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    await this.#options.destination.write(await compress(bytes));
  }
}
