import { createServer, isIP } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { atEnd } from "./at-end.js";

export interface AnsweringServer {
  /** Base address of the intelligence API. */
  readonly url: string;
  /** Number of requests for each `endpoint item`. */
  readonly asked: ReadonlyMap<string, number>;
  /** Items answered with 404, and those answered in part (503). */
  readonly absent: Set<string>;
  readonly partial: Set<string>;
  /** Items of which something became known. */
  readonly malicious: Set<string>;
  /** Endpoints answered with 404 for any item. */
  readonly silent: Set<string>;
  /** Whether every request is answered with 401. */
  refusing: boolean;
  /** The head of the answer to a request, in place of the usual answer; null for that one. */
  limited: (total: number) => string | null;
  /** Called before each answer; returning false leaves the request unanswered. */
  onRequest: (total: number) => boolean;
  answerTo(endpoint: string, item: string): string;
  readonly total: number;
  /** Resolves with this request. */
  untilAsked(total: number): Promise<void>;
  /** Number of connections so far. */
  readonly connections: number;
  /** Shuts the service down: cuts connections and refuses new ones. */
  stop(): Promise<void>;
  /** Starts it again at the same address. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A server that answers every lookup at once, always with the same answer for an item. It is closed
 * at the end of the test or file.
 */
export async function startAnsweringServer(): Promise<AnsweringServer> {
  const asked = new Map<string, number>();
  const sockets = new Set<Socket>();
  let total = 0;
  let connections = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    connections++;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    let rest = "";
    socket.on("data", (chunk) => {
      const requests = (rest + chunk.toString("latin1")).split("\r\n\r\n");
      rest = requests.pop() ?? "";
      for (const request of requests) {
        const [, endpoint = "", item = ""] = /^GET \/beta\/([^/]+)\/(\S+) HTTP/.exec(request) ?? [];
        const key = `${endpoint} ${decodeURIComponent(item)}`;
        asked.set(key, (asked.get(key) ?? 0) + 1);
        total++;
        if (!answering.onRequest(total)) return;
        const limited = answering.limited(total);
        if (limited !== null) socket.write(`HTTP/1.1 ${limited}\r\ncontent-length: 0\r\n\r\n`);
        else socket.write(answering.answerTo(endpoint, decodeURIComponent(item)), "latin1");
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const answering = {
    absent: new Set<string>(),
    partial: new Set<string>(),
    malicious: new Set<string>(),
    silent: new Set<string>(),
    refusing: false,
    answerTo(endpoint: string, item: string): string {
      if (this.refusing) return "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n";
      if (this.absent.has(item) || this.silent.has(endpoint))
        return "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
      const intent = this.malicious.has(item) ? "malicious" : null;
      return answer(endpoint, item, { partial: this.partial.has(item), intent });
    },
    url: `http://127.0.0.1:${port}/beta`,
    asked,
    limited: (_total: number): string | null => null,
    onRequest: (_total: number): boolean => true,
    get total() {
      return total;
    },
    untilAsked: (last: number) =>
      new Promise<void>((resolve) => {
        answering.onRequest = (made) => {
          if (made === last) resolve();
          return true;
        };
      }),
    get connections() {
      return connections;
    },
    async stop() {
      const stopped = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await stopped;
    },
    start: () => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve)),
    async close() {
      if (server.listening) await answering.stop();
    },
  };
  atEnd(() => answering.close());
  return answering;
}

function answer(
  endpoint: string,
  item: string,
  { partial, intent }: { readonly partial: boolean; readonly intent: string | null },
): string {
  const number = Buffer.from(item).reduce((sum, byte) => (sum * 31 + byte) % 1009, 7);
  const common = { item, serviceMailBlocklist: number % 3 === 0 ? "ACTIVE" : "NOT_LISTED" };
  const isAddress = isIP(item) > 0;
  const result =
    endpoint === "query" && isAddress
      ? { item, type: "IP_BOGON", bogon: true }
      : endpoint === "quick-check"
        ? {
            ...common,
            type: isAddress ? "IP" : "DOMAIN",
            bogon: isAddress,
            intent: intent ?? "none",
            activity: number % 2 === 0,
          }
        : {
            ...common,
            type: "DOMAIN",
            tags: number % 5 === 0 ? ["example:tag", `example:${number}`] : [],
            firstSeen: "2025-01-01T00:00:00Z",
            lastSeen: null,
            intent: intent ?? (number % 3 === 0 ? "malicious" : "none"),
            observedActivity: null,
          };
  const body = partial
    ? JSON.stringify({
        status: "partial_success",
        statusCode: 503,
        result: { ...result, intent: null },
        errors: {},
      })
    : JSON.stringify({ status: "success", statusCode: 200, result });
  return `HTTP/1.1 ${partial ? "503 Service Unavailable" : "200 OK"}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}
