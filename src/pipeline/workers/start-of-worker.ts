import { lookupEndpoints } from "../../core/finding.js";
import { ratesOf } from "../../lookup/options.js";
import type { WorkFolder } from "../chunks/work-folder.js";
import type { EnrichJob } from "../types.js";
import type { WorkerStart } from "./messages.js";

/** What each of the workers of a job has to know. */
export function startOf(job: EnrichJob, work: WorkFolder, workers: number): WorkerStart {
  const { settings, serviceName, embedded, stateFolder, apiKey, command } = job;
  return {
    type: "start",
    settings: {
      ...settings,
      resume: true,
      restart: false,
      concurrency: Math.max(1, Math.floor(settings.concurrency / workers)),
      // The parent keeps the rates, the budget and the deadline of the whole run.
      rate: undefined,
      rateQuery: undefined,
      rateQuickCheck: undefined,
      pace: undefined,
      priority: undefined,
      maxRequests: undefined,
      deadline: undefined,
    },
    ...(serviceName === undefined ? {} : { serviceName }),
    ...(embedded === undefined ? {} : { embedded }),
    ...(stateFolder === undefined ? {} : { stateFolder }),
    apiKey,
    command,
    work: work.name,
    shares: lookupEndpoints.filter((name) => ratesOf(name, settings).length > 0),
  };
}
