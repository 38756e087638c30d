import { apiOptions } from "../../client/api/options.js";
import { createDispatcher } from "../../client/api/http/dispatcher.js";
import { UsageError } from "../../core/errors.js";
import { isQuota, option, rate as oneRate } from "../../core/options.js";
import { redisAddress } from "../../core/redis.js";
import { counted, formatCount } from "../../core/wording/quantity.js";
import { defaultRate, lookupOptions, openRequests } from "../../client/lookup/options.js";
import { defineCommand, endlessCodes } from "../command.js";
import { cliOptions, unattendedOptions } from "../options/cli-options.js";
import { withSession } from "../sessions.js";

const { intelUrl, apiKeyFile, timeout } = apiOptions.shape;
const { quiet } = cliOptions.shape;
const { metrics, logFormat } = unattendedOptions.shape;

export const workerCommand = defineCommand({
  name: "worker",
  isJob: true,
  summary: "make the requests of runs with --workers",
  description: [
    "Answers the lookups of any run with --workers until it is stopped. All workers of a service share one rate and one pause when the service asks for it. The key is read here and never leaves this process.",
    "SIGTERM finishes the open requests, within --timeout, and exits with 0. If a worker is killed, another one takes over its lookups within 30 s. Prints a line a minute.",
  ],
  operand: ["redis://HOST[:PORT]/DB", "the Redis of the queue; rediss:// for TLS"],
  groups: {
    Service: { intelUrl, apiKeyFile, timeout },
    Pace: {
      rate: option(
        oneRate()
          .refine((rate) => !isQuota(rate), "must not be a quota: set quotas on the runs")
          .optional(),
        {
          description:
            "Rate of all workers of the service together: N/s or N/min [default 100/s]. The latest worker sets it for all",
          value: "N/s",
        },
      ),
      concurrency: option(lookupOptions.shape.concurrency, {
        description: "Maximum number of open requests [default 32]",
        value: "N",
      }),
    },
    Run: { metrics, logFormat, quiet },
  },
  examples: {
    "repute worker redis://redis.example/0 --intel-url https://intel.example/beta --rate 300/s":
      "answer lookups until stopped; the key is in REPUTE_API_KEY",
    "repute worker rediss://redis.example/0 --api-key-file /run/secrets/key --concurrency 64":
      "connect with TLS and read the key from a file; REPUTE_INTEL_URL holds the service's address",
  },
  exitCodes: endlessCodes,
  variables: { REDISCLI_AUTH: "password of Redis" },
  run: async (call) => {
    const { context, settings, operand, watch } = call;
    const address = redisAddress().safeParse(operand);
    if (!address.success) {
      const [issue] = address.error.issues;
      throw new UsageError("invalid_setting", `the address of the queue ${issue?.message ?? ""}`, {
        hint: "repute worker redis://HOST[:PORT]/DB",
      });
    }
    const { answerLookups } = await import("../../client/workers/lookup-worker.js");
    const { reporter, clock, signal, env: environment } = context;
    const { rate = defaultRate, timeout: timeoutMs } = settings;
    const concurrency = openRequests(settings);
    // Forces the exit: BullMQ's timers would keep the process alive while Redis is down.
    context.beforeExit?.(() => undefined);
    const asked = {
      ...call,
      settings: { ...settings, retries: 0, rate: undefined, local: false },
    };
    await withSession("intel", asked, async ({ service: { url: serviceUrl, credential } }) => {
      const dispatcher = createDispatcher(serviceUrl, { connections: concurrency });
      const requests: Record<string, { outcomes: Record<string, number> }> = {};
      let minute = { since: clock.monotonic(), attempts: 0, throttled: 0 };
      watch?.follow({ record: () => ({ requests }) });
      await answerLookups({
        address: operand,
        environment,
        baseUrl: serviceUrl,
        apiKey: credential,
        dispatcher,
        timeoutMs,
        concurrency,
        rate,
        clock,
        signal,
        onAttempt: ({ endpoint, outcome }) => {
          const { outcomes } = (requests[endpoint] ??= { outcomes: {} });
          outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
          minute.attempts++;
          if (outcome === "429") minute.throttled++;
        },
        onMinute: (limit) => {
          const { since, attempts, throttled } = minute;
          minute = { since: clock.monotonic(), attempts: 0, throttled: 0 };
          const rate = Math.round((10_000 * attempts) / (minute.since - since)) / 10;
          const text = `${counted(attempts, "attempt")} in the last minute, ${rate}/s of ${limit}, ${formatCount(throttled)} throttled`;
          reporter.notice(text);
        },
        ...reporter.listener,
      });
      watch?.finish({ requests });
      await dispatcher.destroy();
    });
  },
});
