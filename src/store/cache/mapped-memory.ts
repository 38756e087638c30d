import { readFileSync } from "node:fs";

/**
 * How long a file may become before LMDB maps it anew, in bytes: room among addresses, not memory.
 * LMDB keeps the maps that a file has outgrown, and with them what was touched in them.
 */
export const mapSize = 64 * 2 ** 30;

/** Touches of mapped pages between two looks at what they came to. */
const touchesBetween = 256;

/** What a touch is taken to map where the system does not say (64 KiB around each of two pages). */
const assumedByTouch = 128 * 1024;

/**
 * Keeps an eye on how much of a mapped file is resident. A page counts as memory of the process
 * from its first touch on, and the kernel maps its surroundings with it.
 */
export class MappedMemory {
  readonly #limit: number;
  #base: number | null;
  #touches = 0;
  #excess = false;

  /** @param limit bytes that may become resident */
  constructor(limit: number) {
    this.#limit = limit;
    this.#base = residentFiles();
  }

  /** True when more than the limit has become resident since the beginning or `reset`. */
  get excess(): boolean {
    return this.#excess;
  }

  /** Takes note of a touch. */
  touch(): void {
    if (++this.#touches % touchesBetween !== 0 || this.#excess) return;
    const now = this.#base === null ? null : residentFiles();
    const mapped =
      now === null || this.#base === null ? this.#touches * assumedByTouch : now - this.#base;
    this.#excess = mapped > this.#limit;
  }

  /** The file was mapped anew. */
  reset(): void {
    this.#base = residentFiles();
    this.#touches = 0;
    this.#excess = false;
  }
}

/** Bytes of files that are resident in this process (proc(5), RssFile); null where nobody says. */
function residentFiles(): number | null {
  try {
    const kibibytes = /^RssFile:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "latin1"));
    return kibibytes === null ? null : Number(kibibytes[1]) * 1024;
  } catch {
    return null;
  }
}
