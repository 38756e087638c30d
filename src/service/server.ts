import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { failure, plain, type ServedAnswer } from "./served-answer.js";
import type { Responder } from "./responder.js";
import { hostCheck } from "./host-check.js";
import { type EndpointName, isLookup, type RequestStats } from "./stats.js";

/** Longest request line and headers together, in bytes: a URL of 8 KiB triples when it is encoded. */
const headerLimit = 64 * 1024;

/** Longer than clients' pools keep a connection, so that they do not send into one that just closes. */
const keepAliveMs = 90_000;

/** How long answers in flight may take once the service is told to close. */
const closingMs = 2_000;

/**
 * An HTTP server without routes that refuses in JSON whatever it has no route for, and requests
 * meant for another host.
 *
 * @param host host name or address that it will listen on
 */
export function createServer(
  responder: Responder,
  stats: RequestStats,
  host: string,
): FastifyInstance {
  const app = fastify({
    logger: false,
    exposeHeadRoutes: false,
    keepAliveTimeout: keepAliveMs,
    forceCloseConnections: "idle",
    http: { maxHeaderSize: headerLimit },
    routerOptions: { maxParamLength: headerLimit },
    frameworkErrors: (_error, request, reply) => {
      const endpoint = endpointOf(request.url);
      responder.say(reply, endpoint, badPath(request, endpoint));
    },
    clientErrorHandler: (error, socket) => {
      if (error.code === "ECONNRESET" || !socket.writable) return;
      const tooLarge = error.code === "HPE_HEADER_OVERFLOW";
      const line = tooLarge ? "431 Request Header Fields Too Large" : "400 Bad Request";
      stats.arrived("unknown");
      stats.ended("unknown", line.slice(0, 3));
      socket.end(`HTTP/1.1 ${line}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    },
  });
  const refuse = (request: FastifyRequest, reply: FastifyReply, code: number, message: string) => {
    if (request.url.startsWith("/_local/")) return reply.code(code).send({ message });
    responder.say(reply, "unknown", plain(code, { message }));
    return reply;
  };
  const isForUs = hostCheck(host);
  app.addHook("onRequest", (request, reply, done) => {
    if (isForUs(request.headers.host)) done();
    else void refuse(request, reply, 421, misdirected(request));
  });
  app.setNotFoundHandler((request, reply) => {
    const message = `there is no ${request.method} ${request.url.slice(0, 200)}${hintFor(request)}`;
    return refuse(request, reply, 404, message);
  });
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) =>
    reply.code(error.statusCode ?? 500).send({ message: error.message }),
  );
  return app;
}

/** Closes at once what is idle, and what is not as soon as it is answered or after a short time. */
export async function closeServer(app: FastifyInstance, responder: Responder): Promise<void> {
  responder.close();
  const timer = setTimeout(() => app.server.closeAllConnections(), closingMs);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
  }
}

/** RFC 9110, 15.5.20: the request reached a server that does not answer for its host. */
function misdirected({ headers: { host = "" } }: FastifyRequest): string {
  return (
    `this service does not answer for ${JSON.stringify(host.slice(0, 100))}: ask for localhost, ` +
    "or for the address given with --host"
  );
}

function hintFor({ url }: FastifyRequest): string {
  return isLookup(endpointOf(url)) ? "; an item is one path segment, percent-encoded" : "";
}

function endpointOf(url: string): EndpointName {
  const [, base, first] = url.split(/[/?]/, 3);
  if (base !== "beta") return "unknown";
  if (isLookup(first)) return first;
  return first === "tags" ? "tag" : "unknown";
}

/** A path whose percent-encoding is broken. */
function badPath(request: FastifyRequest, endpoint: EndpointName): ServedAnswer {
  const message = `the path is not valid percent-encoded UTF-8: ${request.url.slice(0, 200)}`;
  return endpoint === "unknown" ? plain(400, { message }) : failure(message);
}
