import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import type { Clock } from "../../core/clock.js";
import { faultReason } from "../../core/files/system-fault.js";
import { realPath } from "../../core/files/real-path.js";
import { lastSuccessIn, type MeteredRun, metricsText } from "./metrics-text.js";

/** Time between two writings, in milliseconds. */
const everyMs = 15_000;

export interface MetricsFileOptions {
  readonly clock: Clock;
  readonly onWarning: (message: string) => void;
}

type Facts = Pick<MeteredRun, "command" | "output" | "record" | "ended">;

/**
 * A file of metrics, replaced by rename: a reader finds the old or the new text. Writes without
 * waiting, so that it also works right before the process exits.
 */
export class MetricsFile {
  readonly #path: string;
  readonly #options: MetricsFileOptions;
  readonly #startedAt: number;
  readonly #stop = new AbortController();
  #lastSuccess: number | null;

  constructor(path: string, options: MetricsFileOptions) {
    this.#path = path;
    this.#options = options;
    this.#startedAt = options.clock.now();
    this.#lastSuccess = readLastSuccess(path);
  }

  /** Writes the metrics now and every 15 seconds. */
  async repeat(facts: () => Facts): Promise<void> {
    const { signal } = this.#stop;
    try {
      for (;;) {
        this.#write(facts());
        await this.#options.clock.sleep(everyMs, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Writes the metrics at once, without waiting for the next time. */
  write(facts: Facts): void {
    if (!this.#stop.signal.aborted) this.#write(facts);
  }

  /** Writes the metrics of a run that has ended. */
  end(facts: Facts & { readonly ended: NonNullable<MeteredRun["ended"]> }): void {
    this.#stop.abort();
    if (facts.ended.code === 0) this.#lastSuccess = this.#options.clock.now() / 1000;
    this.#write(facts);
  }

  #write(facts: Facts): void {
    const path = realPath(this.#path);
    const fresh = `${path}.new`;
    const now = this.#options.clock.now();
    const [lastSuccess, startedAt] = [this.#lastSuccess, this.#startedAt];
    try {
      const text = metricsText({ ...facts, lastSuccess, startedAt, now });
      // Root could replace /dev/null by a file.
      if (statSync(path, { throwIfNoEntry: false })?.isCharacterDevice()) {
        writeFileSync(path, text);
        return;
      }
      writeFileSync(fresh, text);
      renameSync(fresh, path);
    } catch (error) {
      const reason = faultReason(error);
      this.#options.onWarning(`cannot write the metrics to ${this.#path}: ${reason}`);
    }
  }
}

function readLastSuccess(path: string): number | null {
  try {
    return lastSuccessIn(readFileSync(path, "utf8"));
  } catch {
    return null;
  }
}
