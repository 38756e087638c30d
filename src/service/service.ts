import type { AddressInfo } from "node:net";
import { isLoopback } from "../client/api/http/proxy.js";
import { type Clock, systemClock } from "../core/clock.js";
import { FatalError, UsageError } from "../core/errors.js";
import type { Item } from "../core/item/item.js";
import { packagePath } from "../core/program.js";
import { apiRoutes } from "./api-routes.js";
import { Cases, type FireWebhook } from "./cases.js";
import { type Dataset, loadDataset } from "./dataset/dataset.js";
import { firstIssue } from "./dataset/records.js";
import { answerNotListed, answersFrom } from "./item-answers.js";
import { localRoutes } from "./local-routes.js";
import { serviceOptions, type ServiceSettings } from "./options.js";
import { type OnRequest, Responder } from "./responder.js";
import { inUrl, closeServer, createServer } from "./server.js";
import { TagLists } from "./snapshots.js";
import { RequestStats, type StatsSnapshot } from "./stats.js";
import type { z } from "zod";

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

/**
 * Starts the embedded service.
 *
 * @throws UsageError `dataset_not_found`, `dataset_invalid`, `service_options_invalid`,
 *   `fault_rates_invalid`
 * @throws FatalError `listen_failed`
 */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const settings = settingsOf(options);
  const { dataset, unlisted } = await answersOf(
    await datasetAt(options.dataset),
    settings.synthetic,
  );
  const clock = options.clock ?? systemClock;
  const stats = new RequestStats();
  const responder = new Responder(settings, stats, clock, options.onRequest);
  const cases = new Cases(dataset, options.fireWebhook);
  const lists = new TagLists(dataset.tags, clock);

  const { host, port: wanted } = settings;
  const app = createServer(responder, host);
  apiRoutes(app, responder, {
    dataset,
    lists,
    cases,
    itemAnswers: answersFrom(dataset, lists, settings.blocklistField, unlisted),
    accessToken: options.accessToken ?? sampleAccessToken,
    caseApiKey: options.caseApiKey ?? sampleCaseApiKey,
  });
  localRoutes(app, stats, cases, lists);

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
  const { syntheticAnswers } = await import("./synthetic/synthetic-answers.js");
  const { knownTo, withSyntheticTags } = await import("./synthetic/tags.js");
  const [isKnown, invented] = [knownTo(dataset), syntheticAnswers(seed)];
  return {
    dataset: withSyntheticTags(dataset, seed),
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
