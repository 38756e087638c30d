import { ReputeError } from "../../../core/errors.js";
import { counted, formatCount } from "../../../core/wording/quantity.js";
import { openQueue } from "../../../client/workers/lookup-queue.js";
import { type QueueAddress } from "../../../client/workers/options.js";
import { ratesText } from "../../../client/workers/shared-rate.js";
import { faultText } from "../../../core/redis/connection.js";
import { type Checks, failed } from "./check-machine.js";

/** How long Redis may take to answer, in milliseconds. */
const patienceMs = 5_000;

/** Looks at the queue of a service: Redis, the lookups in it, its workers and their rate. */
export async function* checkQueue(where: QueueAddress): Checks {
  const found = await lookAt(where).catch((error: unknown) => error);
  if (found instanceof ReputeError) yield failed("queue", found);
  else if (found instanceof Error) {
    const finding = `${faultText(found)}; runs wait for it`;
    yield ["queue", "fail", finding, "start Redis, or check the address"];
  } else {
    const { shown, isKept, open, workers, rate } = found as QueueState;
    const finding = `${shown}, ${counted(open, "lookup")} waiting or open`;
    if (isKept) yield ["queue", "ok", finding];
    else yield ["queue", "warn", `${finding}, may drop some`, "set maxmemory-policy noeviction"];
    const start = `start some: repute worker ${shown} --intel-url ${where.baseUrl}`;
    if (workers === 0) yield ["workers", "fail", "none is connected for this service", start];
    else yield ["workers", "ok", `${formatCount(workers)} connected for this service`];
    if (rate !== null) yield ["rate", "ok", `${rate}, all workers together`];
  }
}

interface QueueState {
  readonly shown: string;
  /** Whether Redis drops nothing when its memory is full. */
  readonly isKept: boolean;
  readonly open: number;
  readonly workers: number;
  readonly rate: string | null;
}

async function lookAt(where: QueueAddress): Promise<QueueState> {
  const shared = await openQueue(where);
  const { connection, queue } = shared;
  const { shown, redis, lastFault } = connection;
  const late = new AbortController();
  try {
    return await Promise.race([
      (async () => {
        const [open, workers, rate, info] = await Promise.all([
          queue.getJobCountByTypes("waiting", "active"),
          queue.getWorkersCount(),
          ratesText(shared),
          redis.info("memory"),
        ]);
        const isKept = /^maxmemory(?:_policy:noeviction|:0)\r$/m.test(info);
        return { shown, isKept, open, workers, rate };
      })(),
      new Promise<never>((_, reject) => {
        const say = (): void => reject(new Error(`${shown} is away (${lastFault()})`));
        const timer = setTimeout(say, patienceMs);
        late.signal.addEventListener("abort", () => clearTimeout(timer));
      }),
    ]);
  } finally {
    late.abort();
    connection.close();
  }
}
