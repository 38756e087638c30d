import { randomBytes, timingSafeEqual } from "node:crypto";
import type { AddressInfo } from "node:net";
import type { Queue } from "bullmq";
import { fastify, type FastifyReply, type FastifyRequest } from "fastify";
import { FatalError } from "../../core/errors.js";
import { loadDriver } from "../../core/load-driver.js";

/** The dashboard while it is served. */
export interface Dashboard {
  /** Its address, with the token. */
  readonly url: string;
  close(): Promise<void>;
}

const host = "127.0.0.1";

/** Scripts and styles of the dashboard itself; nothing from other hosts. */
const policy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

/** What a page would fetch from other hosts, such as fonts; the policy refuses that anyway. */
const foreignLinks = /<link\b[^>]*\bhref="https?:[^>]*>/g;

/**
 * Serves bull-board for a queue on the loopback interface, for reading only. Every request needs the
 * token: as parameter, which sets a cookie, or as bearer token.
 *
 * @throws UsageError `driver_missing`; FatalError `listen_failed`
 */
export async function serveDashboard(queue: Queue, port: number): Promise<Dashboard> {
  const what = "--dashboard";
  const { createBullBoard } = await loadDriver(
    "@bull-board/api",
    () => import("@bull-board/api"),
    what,
  );
  const { BullMQAdapter } = await import("@bull-board/api/bullMQAdapter");
  const { FastifyAdapter } = await loadDriver(
    "@bull-board/fastify",
    () => import("@bull-board/fastify"),
    what,
  );
  const serverAdapter = new FastifyAdapter();
  createBullBoard({ queues: [new BullMQAdapter(queue, { readOnlyMode: true })], serverAdapter });
  const token = randomBytes(24).toString("base64url");
  const app = fastify();
  app.addHook("onRequest", async (request, reply) => {
    void reply.headers({
      "cache-control": "no-store",
      "content-security-policy": policy,
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
    return admit(request, reply, token);
  });
  app.addHook("onSend", async (_request, reply, payload) => {
    const isPage = String(reply.getHeader("content-type")).startsWith("text/html");
    return isPage && typeof payload === "string" ? payload.replaceAll(foreignLinks, "") : payload;
  });
  serverAdapter.setBasePath("/");
  await app.register(serverAdapter.registerPlugin(), { prefix: "/" });
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    throw listenFailed(port, error);
  }
  const { port: bound } = app.server.address() as AddressInfo;
  return { url: `http://${host}:${bound}/?token=${token}`, close: () => app.close() };
}

/** Lets a request pass, redirects the first one of a browser, or refuses. */
async function admit(request: FastifyRequest, reply: FastifyReply, token: string) {
  const { headers, method, socket } = request;
  const port = socket.localPort;
  // Another name that leads to this machine is a page of somebody else (DNS rebinding).
  if (![`${host}:${port}`, `localhost:${port}`].includes(headers.host ?? "")) {
    return reply.code(403).send("open the dashboard at 127.0.0.1\n");
  }
  // Cookies do not tell ports apart.
  const cookie = `repute_dashboard_${port}`;
  const cookies = (headers.cookie ?? "").split(/; */);
  const [, bearer = ""] = /^Bearer (\S+)$/.exec(headers.authorization ?? "") ?? [];
  const isKnown = cookies.some((each) => isEqual(each, `${cookie}=${token}`));
  if (isKnown || isEqual(bearer, token)) return undefined;
  // Browsers ask for the icon of the page that refuses them.
  if (request.url === "/favicon.ico") return reply.code(204).send();
  const { token: given } = request.query as { readonly token?: unknown };
  if (method !== "GET" || typeof given !== "string" || !isEqual(given, token)) {
    return reply.code(401).send("open the address that repute worker printed at its start\n");
  }
  const kept = `${cookie}=${token}; Path=/; HttpOnly; SameSite=Strict`;
  return reply.header("set-cookie", kept).redirect("/", 303);
}

function isEqual(given: string, wanted: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(wanted)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function listenFailed(port: number, error: unknown): FatalError {
  const { code, message } = error as NodeJS.ErrnoException;
  const why = code === "EADDRINUSE" ? "another program already listens there" : message;
  return new FatalError("listen_failed", `cannot listen on ${host}, port ${port}: ${why}`, {
    cause: error,
    hint: "give another --dashboard port, or 0 for a free one",
  });
}
