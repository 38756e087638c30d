import type { AddressInfo } from "node:net";
import { isLoopback } from "../api/http/dispatcher.js";
import { type Clock, systemClock } from "../core/clock.js";
import { FatalError, UsageError } from "../core/errors.js";
import { packagePath } from "../core/program.js";
import { CaseDesk, type FireWebhook } from "./case-desk.js";
import type { Dataset } from "./dataset/dataset.js";
import { loadDataset } from "./dataset/load.js";
import { firstIssue } from "./dataset/record-schemas.js";
import { Responder } from "./responder.js";
import { Faults } from "./faults.js";
import { inUrl } from "./host-check.js";
import { itemAnswers } from "./item-answers.js";
import { serviceOptions, type ServiceSettings } from "./options.js";
import { rateLimit } from "./rate-limit.js";
import { itemRoutes } from "./routes/items.js";
import { localRoutes } from "./routes/local.js";
import { caseContextRoutes, operationsRoutes } from "./routes/operations.js";
import { tagRoutes } from "./routes/tags.js";
import { closeServer, createServer } from "./server.js";
import { TagLists } from "./snapshots.js";
import { type EndpointName, RequestStats, type StatsSnapshot } from "./stats.js";
import type { z } from "zod";

/** Token that the sample service takes for the operations interface unless told otherwise. */
export const sampleAccessToken = "sample-access-token";

/** Key that the sample service takes for case contexts unless told otherwise. */
export const sampleCaseApiKey = "sample-case-api-key";

/** How the embedded service is started: the flags of `serve`, and what only programs can give. */
export interface ServiceOptions extends Omit<z.input<typeof serviceOptions>, "dataset"> {
  /** Folder, or a dataset already read. Default: the one that comes with the package. */
  readonly dataset?: string | Dataset | undefined;
  readonly clock?: Clock;
  /** Bearer token of the operations interface. Default: `sampleAccessToken`. */
  readonly accessToken?: string;
  /** Bearer key of the case contexts. Default: `sampleCaseApiKey`. */
  readonly caseApiKey?: string;
  /** Customers on a page, at least 1. Default: 2. */
  readonly customersPage?: number;
  /** Milliseconds that a superseded tag list stays readable by its snapshot. Default: one hour. */
  readonly snapshotLifetimeMs?: number;
  /** Calls a webhook when a case's transition fires it. Without one, none is called. */
  readonly fireWebhook?: FireWebhook;
  /** Told of every request outside `/_local/`, as it arrives. */
  readonly onRequest?: (endpoint: EndpointName, subject: string) => void;
}

/** The embedded service while it runs. */
export interface Service {
  /** Base of the threat intelligence interface, such as `http://127.0.0.1:8080/beta`. */
  readonly intelUrl: string;
  /** Base of the operations interface, such as `http://127.0.0.1:8080`. */
  readonly opsUrl: string;
  /** Base of the case management instance; the same as `opsUrl`. */
  readonly caseUrl: string;
  readonly port: number;
  /** Whether it listens beyond the loopback interface, so that other machines may reach it. */
  readonly exposed: boolean;
  /** What `GET /_local/stats` answers. */
  stats(): StatsSnapshot;
  /** Stops listening, answers what is in flight and closes every connection. */
  close(): Promise<void>;
}

const defaultSnapshotLifetimeMs = 3_600_000;

/**
 * Starts the embedded service (behaviour: The embedded service).
 *
 * @throws UsageError `dataset_not_found`, `dataset_invalid`, `service_options_invalid`, `fault_rates_invalid`
 * @throws FatalError `listen_failed` when it cannot listen there
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
    onRequest: options.onRequest ?? null,
  });
  const desk = new CaseDesk(dataset, options.fireWebhook ?? null);
  const lifetimeMs = options.snapshotLifetimeMs ?? defaultSnapshotLifetimeMs;
  const lists = new TagLists(dataset.tags, clock, lifetimeMs);

  const { host, port: wanted } = settings;
  const app = createServer(responder, stats, host);
  itemRoutes(app, responder, itemAnswers(dataset, settings.blocklistField, unlisted));
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
  throw new UsageError("service_options_invalid", `The service's ${firstIssue(parsed.error)}`);
}

async function datasetAt(dataset: string | Dataset | undefined): Promise<Dataset> {
  if (typeof dataset === "object") return dataset;
  return loadDataset(dataset ?? packagePath("samples/dataset"));
}

/** The dataset alone, or with invented answers for what it does not list. */
async function answersOf(dataset: Dataset, seed: number | undefined) {
  if (seed === undefined) return { dataset, unlisted: undefined };
  const { syntheticAnswers, syntheticTags } = await import("./synthetic/synthetic-answers.js");
  const { withSyntheticTags } = await import("./synthetic/tags.js");
  return {
    dataset: withSyntheticTags(dataset, syntheticTags(seed)),
    unlisted: syntheticAnswers(seed),
  };
}

/** The host of a URL by which a listening address is reached from this machine. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return inUrl(host);
}

function listenFailed(host: string, port: number, error: unknown): FatalError {
  const code = (error as NodeJS.ErrnoException).code;
  const why =
    code === "EADDRINUSE" ? "another program listens there already" : (error as Error).message;
  return new FatalError("listen_failed", `Cannot listen on ${host}, port ${port}: ${why}.`, {
    cause: error,
    hint: "Give another --port, or 0 for a free one.",
  });
}
