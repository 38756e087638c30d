import { FatalError } from "../../core/errors.js";

const lineFeed = 0x0a;

/** Cuts the bytes of an output into its lines, without their ends. */
export class AuditLines {
  readonly #visit: (line: string) => void;
  #rest: Buffer[] = [];

  constructor(visit: (line: string) => void) {
    this.#visit = visit;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      this.#rest.push(chunk.subarray(start, end));
      const line = Buffer.concat(this.#rest).toString();
      this.#rest = [];
      start = end + 1;
      this.#visit(line);
    }
    // The chunk's bytes are overwritten by the next one's.
    if (start < chunk.length) this.#rest.push(Buffer.from(chunk.subarray(start)));
  }

  /** @throws FatalError `output_corrupt` when something stands behind the last line end */
  end(): void {
    if (this.#rest.length > 0) {
      throw new FatalError("output_corrupt", `the output's last line is not whole`);
    }
  }
}
