import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A limit that counts in fixed seconds, or refills steadily. */
export interface ServerLimit {
  readonly perSecond: number;
  readonly kind: "window" | "bucket";
  /** Seconds of `Retry-After` in answers with 429; none without. */
  readonly retryAfter?: number;
}

export interface TimedServer {
  readonly url: string;
  /** When each request arrived, in milliseconds, and whether it was accepted. */
  readonly arrivals: readonly { readonly at: number; readonly accepted: boolean }[];
  limit: ServerLimit | null;
  close(): Promise<void>;
}

/** A service that answers every quick check, notes when it came, and may have a limit. */
export async function startTimedServer(limit: ServerLimit | null = null): Promise<TimedServer> {
  const arrivals: { at: number; accepted: boolean }[] = [];
  let [since, used] = [0, 0];
  const accepts = (at: number): boolean => {
    if (timed.limit === null) return true;
    const { perSecond, kind } = timed.limit;
    if (kind === "bucket") used = Math.max(0, used - ((at - since) * perSecond) / 1000);
    else if (Math.floor(at / 1000) !== Math.floor(since / 1000)) used = 0;
    since = at;
    // A bucket takes a tenth of a second at once.
    if (used + 1 > (kind === "bucket" ? perSecond / 10 + 1 : perSecond)) return false;
    used++;
    return true;
  };
  const server = createServer((request, response) => {
    const at = performance.now();
    const accepted = accepts(at);
    arrivals.push({ at, accepted });
    if (!accepted) {
      const { retryAfter } = timed.limit!;
      if (retryAfter !== undefined) response.setHeader("retry-after", retryAfter);
      response.writeHead(429).end();
      return;
    }
    const item = decodeURIComponent(request.url!.split("/").at(-1)!);
    const facts = {
      bogon: false,
      intent: "none",
      activity: false,
      serviceMailBlocklist: "NOT_LISTED",
    };
    const result = { item, type: "DOMAIN", ...facts };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ status: "success", statusCode: 200, result }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const timed: TimedServer = {
    url: `http://127.0.0.1:${port}/beta`,
    arrivals,
    limit,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return timed;
}

/** The most requests in any second. */
export function worstSecond(times: readonly number[]): number {
  let [most, from] = [0, 0];
  for (const [to, at] of times.entries()) {
    while (at - times[from]! >= 1000) from++;
    most = Math.max(most, to - from + 1);
  }
  return most;
}
