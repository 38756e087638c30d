import { expect, it } from "vitest";
import { UsageError } from "../../src/core/errors.js";
import { repute } from "../../src/library/repute.js";
import type { LookupCall, ReputeOptions } from "../../src/library/options.js";
import type { Webhook } from "../../src/jobs/webhooks/webhook.js";

function faultOf(options: unknown): UsageError {
  try {
    repute(options as ReputeOptions);
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error("the options were accepted");
}

const url = "https://intel.example/beta";

it.each([
  [{ rate: "5" }, 'rate must be a count and a window, such as 100/s, 600/min or 10000/d; got "5"'],
  [{ rate: 5 }, "rate must be a count and a window, such as 100/s, 600/min or 10000/d; got 5"],
  [{ retries: -1 }, "retries must be at least 0; got -1"],
  [{ concurrency: 1.5 }, "concurrency must be a whole number; got 1.5"],
  [{ timeout: "soon" }, "timeout must be a number and a unit (ms, s, m, h, d), such as 30s"],
  [{ lookups: "quary" }, "(did you mean query?)"],
  [{ aapiKey: "k" }, "there is no option aapiKey; did you mean apiKey?"],
  [{ resume: true }, "resume is an option of enrichFile()"],
  [{ onWarning: "log" }, 'onWarning must be a function; got "log"'],
])("names the option at fault, as the library spells it: %o", (options, message) => {
  const fault = faultOf({ url, ...options });
  expect(fault.code).toBe("invalid_setting");
  expect(fault.message).toContain(`repute(): ${message.startsWith("(") ? "lookups" : message}`);
  expect(fault.message).toContain(message);
  expect(fault.message).not.toContain("--");
});

it.each([
  { apiKey: 12345 },
  { url: "hidden-12345" },
  { url: `${url}?key=12345` },
  { url: "https://me:12345@intel.example/beta" },
])("shows no key or address: %o", (options) => {
  const { message, hint } = faultOf({ url, ...options });
  expect(message + hint).not.toContain("12345");
});

it.each([
  [{}, "intel_url_missing", "repute(): url is missing"],
  [{ local: true, url }, "local_and_intel_url", "exclude each other"],
  [{ url, synthetic: 1 }, "synthetic_without_local", "needs local: true"],
  [null, "invalid_setting", "the options must be an object"],
])("says what to give instead of %o", (options, code, message) => {
  expect(faultOf(options)).toMatchObject({ code, message: expect.stringContaining(message) });
});

it.each([
  [{ kind: "adress" }, "lookup(): kind must be one of"],
  [{ kinds: "ip" }, "lookup(): there is no option kinds; did you mean kind?"],
  [{ rate: "5/s" }, "lookup(): rate is an option of repute()"],
  [{ signal: 5 }, "lookup(): signal must be an AbortSignal"],
])("names the option of a lookup at fault: %o", async (options, message) => {
  await using client = repute({ local: true });
  const call = client.lookup("192.0.2.1", options as LookupCall);
  await expect(call).rejects.toThrow(message);
});

it.each(["192.0.2.1", 5, null, {}])("takes no items from %o", async (items) => {
  await using client = repute({ local: true });
  const results = client.lookupAll(items as readonly string[]);
  await expect(results.next()).rejects.toThrow("the items must be a list or a stream");
});

it.each([
  [null, "a webhook must be an object"],
  [{ name: "n", endpoint: "http://127.0.0.1:1/", method: "POST" }, "/payload is missing"],
])("names the member of a webhook at fault: %o", async (webhook, message) => {
  await using client = repute({ local: true });
  const call = client.sendWebhook(webhook as Webhook, "case-2001");
  await expect(call).rejects.toThrow(`sendWebhook(): ${message}`);
});
