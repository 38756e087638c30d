import { sendOnce } from "../../client/api/http/send-once.js";

const pingMs = 4_000;

/** Answers are not read further than this, in bytes. */
const keptBytes = 4096;

interface PingOptions {
  /** The address is a secret of its own, so warnings name only its host. */
  readonly onWarning: (message: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Tells a monitor when a run starts and how it ends. Failures are warnings. */
export class Pings {
  readonly #url: URL;
  readonly #options: PingOptions;
  #started: Promise<void> = Promise.resolve();

  constructor(url: string, options: PingOptions) {
    this.#url = new URL(url);
    this.#options = options;
  }

  /** Tells that the run starts, without waiting for the answer. */
  start(): void {
    this.#started = this.#send("/start", null);
  }

  /** Tells how the run has ended. Takes a few seconds at most. */
  async end(isSuccess: boolean, summary: string): Promise<void> {
    // The monitor must not hear of the start after the end.
    await this.#started;
    await this.#send(isSuccess ? "" : "/fail", summary);
  }

  async #send(suffix: string, body: string | null): Promise<void> {
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
      const { status } = await sendOnce(request, new AbortController().signal);
      if (status >= 300) this.#warn(`it answered ${status}`);
    } catch (error) {
      this.#warn(error instanceof Error ? error.message : String(error));
    }
  }

  #warn(reason: string): void {
    this.#options.onWarning(`the ping to ${this.#url.host} failed: ${reason}`);
  }
}
