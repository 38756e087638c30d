import { isIP } from "node:net";
import { partialSuccess, success } from "../client/api/answers.js";
import { raw, type ScriptedServer, silence, startScriptedServer } from "./scripted-server.js";

export interface AnsweringServer extends Pick<ScriptedServer, "close" | "connections" | "start"> {
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
}

/**
 * A server that answers every lookup at once, always with the same answer for an item. It is closed
 * at the end of the test or file.
 */
export async function startAnsweringServer(): Promise<AnsweringServer> {
  const asked = new Map<string, number>();
  let total = 0;
  const server = await startScriptedServer(({ path }) => {
    const [, endpoint = "", encoded = ""] = /^\/beta\/([^/]+)\/(\S+)$/.exec(path) ?? [];
    const item = decodeURIComponent(encoded);
    const key = `${endpoint} ${item}`;
    asked.set(key, (asked.get(key) ?? 0) + 1);
    total++;
    if (!answering.onRequest(total)) return silence();
    const limited = answering.limited(total);
    if (limited !== null) return raw(`HTTP/1.1 ${limited}\r\ncontent-length: 0\r\n\r\n`, false);
    return raw(Buffer.from(answering.answerTo(endpoint, item), "latin1"), false);
  });
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
    ...server,
    url: `${server.url}/beta`,
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
      return server.connections;
    },
  };
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
  const said = partial ? partialSuccess({ ...result, intent: null }) : success(result);
  const body = JSON.stringify(said);
  return `HTTP/1.1 ${partial ? "503 Service Unavailable" : "200 OK"}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}
