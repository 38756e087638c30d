import type { ServiceName } from "../client/api/service-description.js";
import type { ServiceAccess } from "../client/session/types.js";
import { loadDataset, sampleDataset } from "./dataset.js";
import { sampleAccessToken, sampleCaseApiKey, startService } from "./service.js";

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
  { intel, ops = sampleAccessToken, case: caseKey = sampleCaseApiKey }: Credentials,
  synthetic: number | undefined,
) {
  const keys = { apiKey: intel, accessToken: ops, caseApiKey: caseKey };
  // Its records are checked by tests: most of a start is spent on that.
  const dataset = await loadDataset(sampleDataset, false);
  const service = await startService({ ...keys, synthetic, dataset });
  const shared = {
    name: embeddedServiceName(synthetic),
    embedded: true,
    madeUp: synthetic === undefined ? "sample" : "invented",
  } as const;
  const access: Readonly<Record<ServiceName, ServiceAccess>> = {
    intel: { ...shared, url: service.intelUrl, credential: intel ?? null },
    ops: { ...shared, url: service.opsUrl, credential: ops },
    case: { ...shared, url: service.caseUrl, credential: caseKey },
  };
  return { access, close: () => service.close() };
}

type Credentials = Readonly<Partial<Record<ServiceName, string | undefined>>>;
