import { sendOnce } from "../../api/http/send-once.js";
import type { Clock } from "../../core/clock.js";

/** Longest time of a ping, in milliseconds. */
const pingMs = 4_000;

/** Longest wait at the end for a first ping that is still under way, in milliseconds. */
const startMs = 500;

/** Answers are not read further than this, in bytes. */
const keptBytes = 4096;

export interface PingOptions {
  readonly clock: Clock;
  /** The address is a secret of its own, so warnings name only its host. */
  readonly onWarning: (message: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Tells a monitor when a run starts and how it ends. Failures are warnings. */
export class Pings {
  readonly #url: URL;
  readonly #options: PingOptions;
  readonly #stop = new AbortController();
  #started: Promise<void> = Promise.resolve();

  constructor(url: string, options: PingOptions) {
    this.#url = new URL(url);
    this.#options = options;
  }

  /** Tells that the run starts, without waiting for the answer. */
  start(): void {
    this.#started = this.#send("/start", null, this.#stop.signal);
  }

  /** Tells how the run has ended. Takes a few seconds at most. */
  async end(isSuccess: boolean, summary: string): Promise<void> {
    const enough = new AbortController();
    const waited = this.#options.clock.sleep(startMs, enough.signal).catch(() => undefined);
    await Promise.race([this.#started, waited]);
    enough.abort();
    // The monitor must not hear of the start after the end.
    this.#stop.abort();
    await this.#send(isSuccess ? "" : "/fail", summary, new AbortController().signal);
  }

  async #send(suffix: string, body: string | null, signal: AbortSignal): Promise<void> {
    const { username, password } = this.#url;
    const url = new URL(this.#url);
    url.pathname = url.pathname.replace(/\/+$/, "") + suffix;
    try {
      const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
      const request = {
        url,
        method: "POST",
        headers: body === null ? {} : { "content-type": "application/json" },
        body,
        authorization: login.length > 1 ? `Basic ${login.toString("base64")}` : null,
        timeoutMs: pingMs,
        keptBytes,
        env: this.#options.env,
      } as const;
      const { status } = await sendOnce(request, signal);
      if (status >= 300) this.#warn(`it answered ${status}`);
    } catch (error) {
      if (!signal.aborted) this.#warn(error instanceof Error ? error.message : String(error));
    }
  }

  #warn(reason: string): void {
    this.#options.onWarning(`the ping to ${this.#url.host} failed: ${reason}`);
  }
}
