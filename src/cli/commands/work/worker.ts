import { apiOptions } from "../../../api/options.js";
import { readExclusions } from "../../../core/exclusions/read-exclusions.js";
import { UsageError } from "../../../core/errors.js";
import { duration, option } from "../../../core/options.js";
import { lookupOptions } from "../../../lookup/options.js";
import { redisAddress } from "../../../store/redis/redis-address.js";
import { type CommandCall, defineCommand, type SettingsOf } from "../../command.js";
import { commonExitCodes, exitCodes } from "../../exit-code.js";
import { cliOptions } from "../../options/option-spec.js";
import { withServices } from "../../services/services.js";
import { userStateFolder } from "../../../core/files/user-folders.js";

const { intelUrl, apiKeyFile } = apiOptions.shape;
const { quiet } = cliOptions.shape;

const groups = {
  Service: { intelUrl, apiKeyFile },
  Lookups: {
    exclude: option(lookupOptions.shape.exclude, {
      description:
        "List of what this machine must not send, besides the lists of the run. Repeat it for several lists",
      value: "FILE",
      repeats: true,
    }),
  },
  Run: {
    lock: option(
      duration()
        .refine((ms) => ms >= 1_000, "must be at least 1s")
        .prefault("30s"),
      {
        description:
          "How long this worker may be silent (killed, hanging, cut off) before another one does its chunk",
        value: "TIME",
      },
    ),
    quiet,
  },
};

export const workerCommand = defineCommand({
  name: "worker",
  usage: "redis://HOST[:PORT]/DB [flags]",
  summary: "do chunks of runs that enrich --workers redis:// distributes",
  description: [
    "Takes chunks of any run from the queue in Redis, one at a time, until it is stopped. What to look up and how fast is decided by repute enrich; service and key by this command, so that no key is in Redis or the work folder.",
    "SIGTERM and Ctrl-C hand the chunk in progress back, with what it has reached. Start one worker for each processor, on as many machines as you like.",
  ],
  operands: [["redis://HOST[:PORT]/DB", "the queue, as in enrich --workers; rediss:// for TLS"]],
  operandCount: "one",
  groups,
  examples: {
    "repute worker redis://redis.example/0 --intel-url https://intel.example/beta":
      "do chunks until stopped; the key is in REPUTE_API_KEY",
    "repute worker rediss://redis.example/0 --api-key-file /run/secrets/key --lock 1m":
      "connect with TLS, read the key from a file, and be patient with a slow network",
  },
  exitCodes: [...commonExitCodes],
  variables: [["REDISCLI_AUTH", "password of Redis"]],
  run: worker,
});

async function worker(call: CommandCall<SettingsOf<typeof groups>>): Promise<number> {
  const { context, settings, operand } = call;
  const address = redisAddress().safeParse(operand);
  if (!address.success) {
    const [issue] = address.error.issues;
    throw new UsageError("invalid_setting", `the address of the queue ${issue?.message ?? ""}`, {
      hint: "repute worker redis://HOST[:PORT]/DB",
    });
  }
  const { serveQueue } = await import("../../../cluster/queue/serve-queue.js");
  const { quiet, lock, exclude = [] } = settings;
  // A chunk must not be the first to find out.
  await readExclusions(exclude);
  const print = (message: string): void => {
    if (!quiet) context.reporter.print(`repute: ${message}`);
  };
  // BullMQ's timers may outlast a server that is away.
  context.beforeExit?.(() => undefined);
  await withServices(
    ["intel"],
    { ...call, settings: { ...settings, local: false } },
    async ({ intel }) => {
      print("waiting for chunks, Ctrl-C to stop");
      await serveQueue({
        queue: operand,
        intelUrl: intel.url,
        apiKey: intel.credential,
        exclude,
        lockMs: lock,
        stateFolder: userStateFolder(context.env),
        environment: context.env,
        signal: context.signal,
        onWarning: (message) => context.reporter.warning(message),
        onNotice: print,
      });
    },
  );
  return exitCodes.done;
}
