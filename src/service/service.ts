import type { AddressInfo } from "node:net";
import { isLoopback } from "../api/http/proxy.js";
import { type Clock, systemClock } from "../core/clock.js";
import { FatalError, UsageError } from "../core/errors.js";
import type { Item } from "../core/item/item.js";
import { packagePath } from "../core/program.js";
import { CaseDesk, type FireWebhook } from "./case-desk.js";
import type { Dataset } from "./dataset/dataset.js";
import { loadDataset } from "./dataset/load.js";
import { firstIssue } from "./dataset/records.js";
import { Responder, rateLimit } from "./responder.js";
import { Faults } from "./faults.js";
import { inUrl, closeServer, createServer } from "./server.js";
import { answerNotListed, itemAnswers, type ItemAnswer } from "./item-answers.js";
import { serviceOptions, type ServiceSettings } from "./options.js";
import { localRoutes } from "./routes/local.js";
import { caseContextRoutes, operationsRoutes } from "./routes/operations.js";
import { tagRoutes } from "./routes/tags.js";
import { TagLists } from "./snapshots.js";
import { type EndpointName, RequestStats, type StatsSnapshot } from "./stats.js";
import type { z } from "zod";
import type { FastifyInstance } from "fastify";
import { endpoints } from "../api/endpoints.js";
import { lookupEndpoints } from "../core/finding.js";

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
  /** Customers per page, at least 1. @default 2 */
  readonly customersPage?: number;
  /** Milliseconds for which a replaced tag list stays readable by its snapshot. @default 1 hour */
  readonly snapshotLifetimeMs?: number;
  /** Calls a webhook when a case transition fires it. @default none is called */
  readonly fireWebhook?: FireWebhook;
  /** Called when a request outside `/_local/` arrives. */
  readonly onRequest?: (endpoint: EndpointName, subject: string) => void;
}

/** A running embedded service. */
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
  stats(): StatsSnapshot;
  /** Stops listening, finishes the answers in flight and closes every connection. */
  close(): Promise<void>;
}

const defaultSnapshotLifetimeMs = 3_600_000;

/**
 * Starts the embedded service.
 *
 * @throws UsageError `dataset_not_found`, `dataset_invalid`, `service_options_invalid`,
 *   `fault_rates_invalid`
 * @throws FatalError `listen_failed`
 */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const settings = settingsOf(options);
  const { synthetic } = settings;
  const { dataset, unlisted } = await answersOf(await datasetAt(options.dataset), synthetic);
  const clock = options.clock ?? systemClock;
  const stats = new RequestStats();
  const responder = new Responder({
    stats,
    faults: new Faults(settings, settings.seed),
    rateLimit: settings.rateLimit ? rateLimit(settings.rateLimit, clock) : null,
    latency: settings.latency,
    seed: settings.seed,
    clock,
    apiKey: settings.apiKey ?? null,
    synthetic: synthetic !== undefined,
    onRequest: options.onRequest ?? null,
  });
  const desk = new CaseDesk(dataset, options.fireWebhook ?? null);
  const lifetimeMs = options.snapshotLifetimeMs ?? defaultSnapshotLifetimeMs;
  const lists = new TagLists(dataset.tags, clock, lifetimeMs);

  const { host, port: wanted } = settings;
  const app = createServer(responder, host);
  itemRoutes(app, responder, itemAnswers(dataset, lists, settings.blocklistField, unlisted));
  tagRoutes(app, responder, dataset.tags, lists);
  operationsRoutes(app, responder, dataset.customers, desk, {
    accessToken: options.accessToken ?? sampleAccessToken,
    customersPage: options.customersPage ?? 2,
  });
  const caseApiKey = options.caseApiKey ?? sampleCaseApiKey;
  caseContextRoutes(app, responder, dataset.contexts, caseApiKey);
  localRoutes(app, stats, desk, lists);

  try {
    await app.listen({ host, port: wanted });
  } catch (error) {
    await app.close();
    throw listenFailed(host, wanted, error);
  }
  const { port, address } = app.server.address() as AddressInfo;
  const origin = `http://${reachable(host)}:${port}`;
  return {
    intelUrl: `${origin}/beta`,
    opsUrl: origin,
    caseUrl: origin,
    port,
    exposed: !isLoopback(inUrl(address)),
    stats: () => stats.snapshot(),
    close: () => closeServer(app, responder),
  };
}

function settingsOf(options: ServiceOptions): ServiceSettings {
  const parsed = serviceOptions.strip().safeParse({ ...options, dataset: undefined });
  if (parsed.success) return parsed.data;
  throw new UsageError(
    "service_options_invalid",
    `invalid option of the service: ${firstIssue(parsed.error)}`,
  );
}

async function datasetAt(dataset: string | Dataset | undefined): Promise<Dataset> {
  if (typeof dataset === "object") return dataset;
  return loadDataset(dataset ?? packagePath("samples/dataset"));
}

/** The dataset alone, or with invented answers for what it does not list. */
async function answersOf(dataset: Dataset, seed: number | undefined) {
  if (seed === undefined) return { dataset, unlisted: undefined };
  const { syntheticAnswers, syntheticTags } = await import("./synthetic/synthetic-answers.js");
  const { knownTo, withSyntheticTags } = await import("./synthetic/tags.js");
  const [isKnown, invented] = [knownTo(dataset), syntheticAnswers(seed)];
  return {
    dataset: withSyntheticTags(dataset, syntheticTags(seed)),
    unlisted: (item: Item) => (isKnown(item.value) ? answerNotListed(item) : invented(item)),
  };
}

/** The host for URLs that reach a listening address from this machine. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return inUrl(host);
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

interface ItemPath {
  Params: { item: string };
}

/** `GET /beta/query/{item}` and `GET /beta/quick-check/{item}`. */
function itemRoutes(
  app: FastifyInstance,
  responder: Responder,
  answerTo: (text: string) => ItemAnswer,
): void {
  for (const endpoint of lookupEndpoints) {
    const hasPartial = endpoints[endpoint].partial !== null;
    app.get<ItemPath>(`/beta/${endpoint}/:item`, (request, reply) => {
      const { item } = request.params;
      const answer = answerTo(item);
      responder.answer(reply, endpoint, item, {
        full: () => answer.full(endpoint),
        partial: hasPartial && answer.canBePartial ? (dice) => answer.partial(dice) : null,
      });
    });
  }
}
