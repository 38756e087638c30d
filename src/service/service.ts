import { type AddressInfo, isIP } from "node:net";
import { isLoopback } from "../client/api/http/proxy.js";
import { type Clock, systemClock } from "../core/clock.js";
import type { ServiceName } from "../client/api/service-description.js";
import type { ServiceAccess } from "../client/session/session.js";
import { FatalError, UsageError } from "../core/errors.js";
import { quoted } from "../core/wording/printable.js";
import { addRoutes } from "./api-routes.js";
import { Cases, type FireWebhook } from "./cases.js";
import { type Dataset, loadDataset, firstIssue, sampleDataset } from "./dataset.js";
import { answersFrom } from "./item-answers.js";
import { serviceOptions, type ServiceSettings } from "./options.js";
import { failure, type OnRequest, plain, Responder } from "./responder.js";
import { TagLists } from "./snapshots.js";
import type { z } from "zod";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { hostname } from "node:os";

/** Default token for the operations interface of the sample service. */
export const sampleAccessToken = "sample-access-token";

/** Default key for the case contexts of the sample service. */
export const sampleCaseApiKey = "sample-case-api-key";

/** Options of the embedded service: the flags of `serve`, and some for programs only. */
export interface ServiceOptions extends Omit<z.input<typeof serviceOptions>, "dataset"> {
  /** Folder, or a loaded dataset. @default the dataset in the package */
  readonly dataset?: string | Dataset | undefined;
  readonly clock?: Clock;
  /** Bearer token of the operations interface. @default `sampleAccessToken` */
  readonly accessToken?: string;
  /** Bearer key of the case contexts. @default `sampleCaseApiKey` */
  readonly caseApiKey?: string;
  /** Calls a webhook when a case transition fires it. @default none is called */
  readonly fireWebhook?: FireWebhook;
  /** Called when a request outside `/_local/` arrives. */
  readonly onRequest?: OnRequest;
}

export interface Service {
  /** Base URL of the threat intelligence API, such as `http://127.0.0.1:8080/beta`. */
  readonly intelUrl: string;
  /** Base URL of the operations interface, such as `http://127.0.0.1:8080`. */
  readonly opsUrl: string;
  /** Base URL of the case management instance; equal to `opsUrl`. */
  readonly caseUrl: string;
  readonly port: number;
  /** True if it listens beyond the loopback interface, so that other machines can reach it. */
  readonly exposed: boolean;
  /** The body of `GET /_local/stats`. */
  stats(): ReturnType<Responder["stats"]>;
  /** Stops listening, finishes the answers in flight and closes every connection. */
  close(): Promise<void>;
}

/**
 * Starts the embedded service.
 *
 * @throws UsageError `dataset_not_found`, `dataset_invalid`, `service_options_invalid`,
 *   `fault_rates_invalid`
 * @throws FatalError `listen_failed`
 */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const settings = settingsOf(options);
  const { dataset: given = sampleDataset } = options;
  const { synthetic: seed } = settings;
  const loaded = typeof given === "object" ? given : await loadDataset(given);
  const { dataset, unlisted } =
    seed === undefined
      ? { dataset: loaded, unlisted: undefined }
      : (await import("./synthetic-answers.js")).withInvented(loaded, seed);
  const clock = options.clock ?? systemClock;
  const responder = new Responder(settings, clock, options.onRequest);
  const cases = new Cases(dataset, options.fireWebhook);
  const lists = new TagLists(dataset.tags, clock);

  const { host, port: wanted } = settings;
  const app = createServer(responder, host);
  addRoutes(app, responder, {
    dataset,
    lists,
    cases,
    itemAnswers: answersFrom(dataset, lists, settings.blocklistField, unlisted),
    accessToken: options.accessToken ?? sampleAccessToken,
    caseApiKey: options.caseApiKey ?? sampleCaseApiKey,
  });

  try {
    await app.listen({ host, port: wanted });
  } catch (error) {
    await app.close();
    throw listenFailed(host, wanted, error);
  }
  const { port, address } = app.server.address() as AddressInfo;
  // These addresses mean all interfaces.
  const local = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  const origin = `http://${inUrl(local)}:${port}`;
  return {
    intelUrl: `${origin}/beta`,
    opsUrl: origin,
    caseUrl: origin,
    port,
    exposed: !isLoopback(inUrl(address)),
    stats: () => responder.stats(),
    close: () => closeServer(app, responder),
  };
}

/**
 * Stands for the embedded service in state, cache and messages: its port differs from run to run.
 *
 * @param synthetic seed of its invented answers, which differ from seed to seed
 */
export function embeddedServiceName(synthetic?: number): string {
  const name = "the embedded service";
  return synthetic === undefined ? name : `${name}, synthetic ${synthetic}`;
}

/**
 * Starts the embedded service for this process, on a free loopback port.
 *
 * @param credentials what it requires; by default no API key, and the sample token and key
 */
export async function startEmbedded(
  credentials: Readonly<Partial<Record<ServiceName, string | undefined>>>,
  synthetic: number | undefined,
) {
  const { intel, ops = sampleAccessToken, case: caseApiKey = sampleCaseApiKey } = credentials;
  // Its records are checked by tests: most of a start is spent on that.
  const dataset = await loadDataset(sampleDataset, false);
  const keys = { apiKey: intel, accessToken: ops, caseApiKey };
  const service = await startService({ ...keys, synthetic, dataset });
  const shared = {
    name: embeddedServiceName(synthetic),
    embedded: true,
    madeUp: synthetic === undefined ? "sample" : "invented",
  } as const;
  const access: Readonly<Record<ServiceName, ServiceAccess>> = {
    intel: { ...shared, url: service.intelUrl, credential: intel ?? null },
    ops: { ...shared, url: service.opsUrl, credential: ops },
    case: { ...shared, url: service.caseUrl, credential: caseApiKey },
  };
  return { access, close: () => service.close() };
}

function settingsOf(options: ServiceOptions): ServiceSettings {
  const parsed = serviceOptions.strip().safeParse({ ...options, dataset: undefined });
  if (parsed.success) return parsed.data;
  throw new UsageError(
    "service_options_invalid",
    `invalid option of the service: ${firstIssue(parsed.error)}`,
  );
}

function listenFailed(host: string, port: number, error: unknown): FatalError {
  const code = (error as NodeJS.ErrnoException).code;
  const why =
    code === "EADDRINUSE" ? "another program already listens there" : (error as Error).message;
  return new FatalError("listen_failed", `cannot listen on ${host}, port ${port}: ${why}`, {
    cause: error,
    hint: "set another --port, or 0 to let the system choose one",
  });
}

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
function createServer(responder: Responder, host: string): FastifyInstance {
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
    else {
      // RFC 9110 section 15.5.20: the server is not configured to answer for this host.
      const asked = quoted(request.headers.host ?? "");
      const remedy = "use localhost, or the address given with --host";
      void refuse(request, reply, 421, `this service does not answer for ${asked}: ${remedy}`);
    }
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
async function closeServer(app: FastifyInstance, responder: Responder): Promise<void> {
  responder.close();
  const timer = setTimeout(() => app.server.closeAllConnections(), closingMs);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Creates a check of the `Host` header that protects against DNS rebinding. A web page whose name
 * resolves to 127.0.0.1 has the same origin as the service and could read answers and change cases,
 * but the browser still sends the page's name as `Host`.
 *
 * Accepts addresses, the names of the loopback interface, and the name that the service listens on;
 * when it listens on all interfaces, the machine's own. Any port is accepted, because ports can be
 * forwarded. HTTP/1.0 requests may lack the header; browsers always send it.
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
    return host === own || isLoopback(host) || isIP(host.replace(/^\[|\]$/g, "")) !== 0;
  };
}

/** Formats a host for a URL: IPv6 addresses go in brackets. */
function inUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** The host of a `Host` header without its port, normalised as in URLs; null if invalid. */
function hostOf(header: string): string | null {
  if (!/^[^\s/?#@\\]+$/.test(header) || !URL.canParse(`http://${header}`)) return null;
  return new URL(`http://${header}`).hostname.replace(/\.$/, "");
}
