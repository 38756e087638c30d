import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { failure, plain } from "./served-answer.js";
import type { Responder } from "./responder.js";
import { isIP } from "node:net";
import { hostname } from "node:os";
import { isLoopback } from "../client/api/http/proxy.js";

/** Maximum size in bytes of request line and headers. An 8 KiB URL triples when percent-encoded. */
const headerLimit = 64 * 1024;

/** Longer than clients keep idle connections, so that they never reuse one that is closing. */
const keepAliveMs = 90_000;

/** Routes have no schemas, so the compilers, which take a tenth of a second to load, are left out. */
const compilers = { buildValidator: withoutSchemas, buildSerializer: withoutSchemas };

/** Time for answers in flight to finish when the service closes. */
const closingMs = 2_000;

/**
 * Creates an HTTP server without routes. It refuses, in JSON, paths without a route and requests
 * for other hosts.
 *
 * @param host host name or address to listen on
 */
export function createServer(responder: Responder, host: string): FastifyInstance {
  const app = fastify({
    logger: false,
    exposeHeadRoutes: false,
    keepAliveTimeout: keepAliveMs,
    forceCloseConnections: "idle",
    http: { maxHeaderSize: headerLimit },
    routerOptions: { maxParamLength: headerLimit },
    schemaController: { compilersFactory: compilers },
    frameworkErrors: (_error, request, reply) => {
      const path = request.url.slice(0, 200);
      responder.refuse(reply, failure(`the path is not valid percent-encoded UTF-8: ${path}`));
    },
  });
  const refuse = (request: FastifyRequest, reply: FastifyReply, code: number, message: string) => {
    if (request.url.startsWith("/_local/")) return reply.code(code).send({ message });
    responder.refuse(reply, plain(code, { message }));
    return reply;
  };
  const isForUs = hostCheck(host);
  app.addHook("onRequest", (request, reply, done) => {
    if (isForUs(request.headers.host)) done();
    else void refuse(request, reply, 421, misdirected(request));
  });
  app.setNotFoundHandler((request, reply) => {
    const message = `no route for ${request.method} ${request.url.slice(0, 200)}`;
    return refuse(request, reply, 404, message);
  });
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) =>
    reply.code(error.statusCode ?? 500).send({ message: error.message }),
  );
  return app;
}

function withoutSchemas(): never {
  throw new Error("routes of the embedded service have no schemas");
}

/** Closes idle connections at once, and others when they are answered or after a short time. */
export async function closeServer(app: FastifyInstance, responder: Responder): Promise<void> {
  responder.close();
  const timer = setTimeout(() => app.server.closeAllConnections(), closingMs);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
  }
}

/** RFC 9110 section 15.5.20: the server is not configured to answer for this host. */
function misdirected({ headers: { host = "" } }: FastifyRequest): string {
  return (
    `this service does not answer for ${JSON.stringify(host.slice(0, 100))}: use localhost, ` +
    "or the address given with --host"
  );
}

/**
 * Creates a check of the `Host` header that protects against DNS rebinding. A web page whose name
 * resolves to 127.0.0.1 has the same origin as the service and could read answers and change cases,
 * but the browser still sends the page's name as `Host`.
 *
 * Accepts the names and addresses of the loopback interface and the host that the service listens
 * on; when it listens on all interfaces, also any IP address and the machine's own name. Any port
 * is accepted, because ports can be forwarded. HTTP/1.0 requests may lack the header; browsers
 * always send it.
 *
 * @param listening host name or address that the service listens on
 */
export function hostCheck(listening: string): (header: string | undefined) => boolean {
  const isEverywhere = listening === "0.0.0.0" || listening === "::";
  const own = hostOf(isEverywhere ? hostname() : inUrl(listening));
  return (header) => {
    if (header === undefined) return true;
    const host = hostOf(header);
    if (host === null) return false;
    if (isLoopback(host) || host === own) return true;
    return isEverywhere && isIP(host.replace(/^\[|\]$/g, "")) !== 0;
  };
}

/** Formats a host for a URL: IPv6 addresses go in brackets. */
export function inUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** The host of a `Host` header without its port, normalised as in URLs; null if invalid. */
function hostOf(header: string): string | null {
  if (!/^[^\s/?#@\\]+$/.test(header) || !URL.canParse(`http://${header}`)) return null;
  return new URL(`http://${header}`).hostname.replace(/\.$/, "");
}
