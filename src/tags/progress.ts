import type { PageLog } from "./state/page-log.js";
import type { ExportTagsOptions, TagProgress, TagResult } from "./types.js";

/** Tells how far a tag is. */
export class Progress {
  readonly #tag: string;
  readonly #tell: ((progress: TagProgress) => void) | undefined;
  #pages = 0;
  #entries = 0;
  #total: number | null = null;

  constructor(tag: string, options: ExportTagsOptions) {
    this.#tag = tag;
    this.#tell = options.onProgress;
  }

  page(log: PageLog): void {
    this.#pages = log.pages;
    this.#entries = log.entries;
    this.#total = log.pin.total;
    this.#say("reading");
  }

  writing(): void {
    this.#say("writing");
  }

  done(state: TagResult["status"], total: number): void {
    this.#total = total;
    this.#say(state);
  }

  failed({ message, hint }: NonNullable<TagProgress["error"]>): void {
    this.#say("failed", { message, hint });
  }

  #say(state: TagProgress["state"], error: TagProgress["error"] = null): void {
    this.#tell?.({
      tag: this.#tag,
      state,
      pages: this.#pages,
      entries: this.#entries,
      total: this.#total,
      error,
    });
  }
}
