import type { Clock } from "../core/clock.js";
import type { FireWebhook } from "../service/case-desk.js";
import type { ApiKey } from "../webhooks/prepare.js";

export interface FireWebhooksOptions {
  /** The keys, each sent to its own origin alone; asked for at each call. */
  readonly apiKeys: () => readonly ApiKey[];
  readonly retries: number;
  /** Milliseconds that one attempt may take. */
  readonly timeout: number;
  readonly clock: Clock;
  /** Aborting it ends the calls that are open. */
  readonly signal: AbortSignal;
}

/** Calls webhooks for the embedded service as `repute webhook send` does. */
export function fireWebhooks({
  apiKeys,
  retries,
  timeout,
  clock,
  signal,
}: FireWebhooksOptions): FireWebhook {
  return async (webhook, context) => {
    const [{ createDispatcher }, { sendWebhook }] = await Promise.all([
      import("../api/http/dispatcher.js"),
      import("../webhooks/send.js"),
    ]);
    const dispatcher = createDispatcher(webhook.endpoint, { connections: 1 });
    try {
      const { status, error } = await sendWebhook(webhook, context, {
        dispatcher,
        apiKeys: apiKeys(),
        retries,
        timeoutMs: timeout,
        clock,
        signal,
      });
      return error === null ? { status } : { status, error: error.message };
    } finally {
      await dispatcher.destroy();
    }
  };
}
