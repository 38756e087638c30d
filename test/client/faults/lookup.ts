import { beforeAll, onTestFinished } from "vitest";
import { IntelClient, type IntelClientOptions } from "../../../src/client/api/intel-client.js";
import type { AttemptReport } from "../../../src/client/api/types.js";
import { systemClock } from "../../../src/core/clock.js";
import type { Attempt, Finding } from "../../../src/core/finding.js";
import type { Connect } from "../../helpers/connections.js";
import {
  type RecordedRequest,
  silence,
  startScriptedServer,
  type Step,
} from "../../helpers/scripted-server.js";

/** The result of one query, and what was observed on the way. */
export interface Tried {
  readonly finding: Finding & Pick<Attempt, "again">;
  readonly attempts: readonly AttemptReport[];
  /** What the server received. */
  readonly requests: readonly RecordedRequest[];
}

/** Queries one address from a scripted server. */
export async function tryQuery(
  connect: Connect,
  step: Step,
  options: Partial<IntelClientOptions> = {},
): Promise<Tried> {
  const bench = await openBench(connect, options);
  onTestFinished(bench.close);
  return bench.query(step);
}

/**
 * Queries one address from a scripted server, with one client for all tests of a block: a thread takes
 * a tenth of a second to start.
 */
export function queriesOf(connect: Connect): (step: Step) => Promise<Tried> {
  let bench: Awaited<ReturnType<typeof openBench>>;
  beforeAll(async () => {
    bench = await openBench(connect, {});
    return bench.close;
  });
  return (step) => bench.query(step);
}

async function openBench(connect: Connect, options: Partial<IntelClientOptions>) {
  let next = silence();
  let attempts: AttemptReport[] = [];
  const server = await startScriptedServer(() => next);
  const dispatcher = connect(options.baseUrl ?? server.url);
  const intel = new IntelClient({
    baseUrl: server.url,
    dispatcher,
    clock: systemClock,
    onAttempt: (attempt) => attempts.push(attempt),
    ...options,
  });
  const query = async (step: Step): Promise<Tried> => {
    next = step;
    attempts = [];
    const before = server.requests.length;
    const { signal } = new AbortController();
    const item = { kind: "ip", value: "192.0.2.7" } as const;
    const { finding, again } = await intel.attempt("query", item, { signal });
    const requests = server.requests.slice(before);
    return { finding: { ...finding, again }, attempts, requests };
  };
  const close = async (): Promise<void> => {
    await dispatcher.destroy();
    await server.close();
  };
  return { query, close };
}
