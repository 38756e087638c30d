import { IntelClient, type IntelClientOptions } from "../../src/api/intel-client.js";
import type { AttemptReport } from "../../src/api/types.js";
import { systemClock } from "../../src/core/clock.js";
import type { Attempt } from "../../src/core/attempt.js";
import type { Finding } from "../../src/core/finding.js";
import type { Connect } from "../helpers/connections.js";
import { type ScriptedServer, startScriptedServer, type Step } from "../helpers/scripted-server.js";

/** The result of one query, and what was observed on the way. */
export interface Tried {
  readonly finding: Finding & Pick<Attempt, "again">;
  readonly attempts: readonly AttemptReport[];
  readonly server: ScriptedServer;
}

/** Queries one address from a scripted server. */
export async function tryQuery(
  connect: Connect,
  step: Step,
  options: Partial<IntelClientOptions> = {},
): Promise<Tried> {
  const server = await startScriptedServer([step]);
  const dispatcher = connect(options.baseUrl ?? server.url);
  const attempts: AttemptReport[] = [];
  const intel = new IntelClient({
    baseUrl: server.url,
    dispatcher,
    clock: systemClock,
    onAttempt: (attempt) => attempts.push(attempt),
    ...options,
  });
  try {
    const { signal } = new AbortController();
    const { finding, again } = await intel.attempt(
      "query",
      { kind: "ip", value: "192.0.2.7" },
      { signal },
    );
    return { finding: { ...finding, again }, attempts, server };
  } finally {
    await dispatcher.destroy();
    await server.close();
  }
}
