import type { Socket } from "node:net";
import type { buildConnector } from "undici";

/**
 * Lets a client ignore `100 Continue` that it has not asked for (RFC 9110 section 15.2). undici ends the
 * connection instead, but skips other interim answers; so this renames it to `102`.
 */
export function ignoringContinue(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error === null) renameContinue(socket);
      callback(...([error, socket] as Parameters<typeof callback>));
    });
}

/** An answer follows what is written, since no request is sent before the last one is answered. */
function renameContinue(socket: Socket): void {
  const [write, read] = [socket.write.bind(socket), socket.read.bind(socket)];
  let heads: InterimHeads | null = null;
  socket.write = (...parameters: unknown[]): boolean => {
    heads ??= new InterimHeads();
    return write(...(parameters as Parameters<typeof write>));
  };
  socket.read = (size) => {
    const chunk: unknown = read(size);
    if (heads !== null && Buffer.isBuffer(chunk) && !heads.rename(chunk)) heads = null;
    return chunk;
  };
}

const version = "HTTP/1.";
const blankLine = "\r\n\r\n";
/** Offsets in `HTTP/1.1 100`. */
const [hundreds, tens, ones] = [9, 10, 11];

/** The interim answers before an answer, however they are cut into chunks. */
class InterimHeads {
  /** Characters of a status line so far; null behind it. */
  #at: number | null = 0;
  #isContinue = false;
  /** Characters of the blank line that ends a head so far. */
  #blank = 0;

  /** Renames in place. @returns false once the answer itself has begun */
  rename(chunk: Buffer): boolean {
    for (let index = 0; index < chunk.length; index++) {
      const character = String.fromCharCode(chunk[index]!);
      if (this.#at === null) this.#behindStatus(character);
      else if (!this.#inStatus(character, chunk, index)) return false;
    }
    return true;
  }

  #inStatus(character: string, chunk: Buffer, index: number): boolean {
    const at = this.#at ?? 0;
    if (at < version.length && character !== version[at]) return false;
    if (at === hundreds && character !== "1") return false;
    if (at === tens) this.#isContinue = character === "0";
    this.#at = at === ones ? null : at + 1;
    if (at === ones && this.#isContinue && character === "0") chunk[index] = "2".charCodeAt(0);
    return true;
  }

  #behindStatus(character: string): void {
    if (character === blankLine[this.#blank]) this.#blank++;
    else this.#blank = character === "\r" ? 1 : 0;
    if (this.#blank < blankLine.length) return;
    this.#at = 0;
    this.#blank = 0;
  }
}
