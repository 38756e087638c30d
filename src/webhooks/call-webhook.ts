import type { JsonObject } from "../core/finding.js";
import type { Webhook } from "./configuration.js";
import type { SendOptions, WebhookDelivery } from "./send.js";

/** Renders a webhook for a case and calls its endpoint over its own connection. */
export async function callWebhook(
  webhook: Webhook,
  caseContext: JsonObject,
  options: Omit<SendOptions, "dispatcher">,
): Promise<WebhookDelivery> {
  const [{ createDispatcher }, { sendWebhook }] = await Promise.all([
    import("../api/http/dispatcher.js"),
    import("./send.js"),
  ]);
  const dispatcher = createDispatcher(webhook.endpoint, { connections: 1 });
  try {
    return await sendWebhook(webhook, caseContext, { ...options, dispatcher });
  } finally {
    await dispatcher.destroy();
  }
}
