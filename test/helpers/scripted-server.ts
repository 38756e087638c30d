import { STATUS_CODES } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { atEnd } from "./at-end.js";

/** A request as received. */
export interface RecordedRequest {
  readonly method: string;
  /** Path and query as sent, not decoded. */
  readonly path: string;
  /** By lower-case name; of duplicates, the last. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What the server does with one request, byte by byte. */
export type Step = (socket: Socket, request: RecordedRequest) => void;

export interface ScriptedServer {
  /** `http://127.0.0.1:<port>`, without a trailing `/`. */
  readonly url: string;
  /** Every request so far, in order of arrival. */
  readonly requests: readonly RecordedRequest[];
  /** Number of connections so far. */
  readonly connections: number;
  /** Cuts all connections and refuses new ones. */
  close(): Promise<void>;
  /** Accepts connections again, at the same address. */
  start(): Promise<void>;
}

/**
 * An HTTP/1.1 server on a free loopback port that answers by a script, well or badly: each request
 * gets the next step, and the last step repeats forever. Instead of steps, a function may choose
 * the step for each request. It is closed at the end of the test or file.
 */
export async function startScriptedServer(
  script: readonly Step[] | ((request: RecordedRequest, at: number) => Step),
): Promise<ScriptedServer> {
  const requests: RecordedRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  // Otherwise a body waits 40 ms for the acknowledgement of its headers.
  const server = createServer({ noDelay: true }, (socket) => {
    connections++;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    // Clients may disconnect at any time; some tests try just that.
    socket.on("error", () => socket.destroy());
    readRequests(socket, (request) => {
      const at = requests.push(request) - 1;
      const step =
        typeof script === "function"
          ? script(request, at)
          : script[Math.min(at, script.length - 1)];
      step?.(socket, request);
    });
  });
  let port = 0;
  const start = () => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  await start();
  ({ port } = server.address() as AddressInfo);
  atEnd(close);
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    get connections() {
      return connections;
    },
    close,
    start,
  };
}

/** Headers to send; an array repeats the header. */
type SentHeaders = Readonly<Record<string, string | readonly string[]>>;

/** A well-formed answer. An object is sent as JSON. */
export function reply(status: number, body: unknown = "", headers: SentHeaders = {}): Step {
  return (socket) => {
    const bytes = bytesOf(body);
    socket.write(head(status, { "content-length": String(bytes.length), ...headers }));
    socket.write(bytes);
  };
}

/** Exactly these bytes, then the end of the connection unless `end` is false. */
export function raw(bytes: string | Buffer, end = true): Step {
  return (socket) => {
    socket.write(bytes);
    if (end) socket.end();
  };
}

/** A reset (RST) instead of an answer. */
export function reset(): Step {
  return (socket) => socket.resetAndDestroy();
}

/** Headers and the start of a body, then a reset (RST), which may overtake them. */
export function resetInBody(): Step {
  return (socket) => {
    socket.write(`${head(200, { "content-length": "1000" })}{"status":`, () =>
      socket.resetAndDestroy(),
    );
  };
}

/** A body that ends before its content-length. */
export function truncated(body: unknown): Step {
  return (socket) => {
    const bytes = bytesOf(body);
    socket.write(head(200, { "content-length": String(bytes.length) }));
    socket.end(bytes.subarray(0, Math.floor(bytes.length / 2)));
  };
}

/** A chunked body whose last chunk never arrives. */
export function truncatedChunks(): Step {
  return (socket) => {
    socket.end(`${head(200, { "transfer-encoding": "chunked" })}5\r\n{"sta\r\n`);
  };
}

/** An endless body, one byte at a time. */
export function drip(everyMs = 10): Step {
  return (socket) => {
    socket.write(head(200, { "transfer-encoding": "chunked" }));
    const timer = setInterval(() => socket.write("1\r\n \r\n"), everyMs);
    socket.on("close", () => clearInterval(timer));
  };
}

/** An endless body, as fast as it is read. */
export function endless(): Step {
  return (socket) => {
    const chunk = `10000\r\n${" ".repeat(0x10000)}\r\n`;
    const pour = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on("drain", pour);
    socket.write(head(200, { "transfer-encoding": "chunked" }));
    pour();
  };
}

/** No answer, and no end of the connection. */
export function silence(): Step {
  return () => {};
}

function head(status: number, headers: SentHeaders): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((one) => `${name}: ${one}\r\n`),
  );
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n`;
}

function bytesOf(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

/** Calls back for each request on a connection, until it ends. */
function readRequests(socket: Socket, onRequest: (request: RecordedRequest) => void): void {
  let received = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    for (;;) {
      const end = received.indexOf("\r\n\r\n");
      if (end === -1) return;
      const [first = "", ...lines] = received.toString("latin1", 0, end).split("\r\n");
      const headers = Object.fromEntries(
        lines.map((line) => {
          const colon = line.indexOf(":");
          return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
        }),
      );
      const bodyEnd = end + 4 + Number(headers["content-length"] ?? 0);
      if (received.length < bodyEnd) return;
      const body = received.toString("utf8", end + 4, bodyEnd);
      received = received.subarray(bodyEnd);
      const [method = "", path = ""] = first.split(" ");
      onRequest({ method, path, headers, body });
    }
  });
}
