import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Webhook } from "../../../src/jobs/webhooks/webhook.js";
import { UsageError } from "../../../src/core/errors.js";
import { ExclusionList } from "../../../src/core/exclusions/exclusion-list.js";
import { WebhookError } from "../../../src/jobs/webhooks/render.js";
import { prepareCall, sendWebhook } from "../../../src/jobs/webhooks/send.js";
import { ManualClock } from "../../helpers/manual-clock.js";
import { freePort } from "../../helpers/free-port.js";
import {
  raw,
  reply,
  reset,
  startScriptedServer,
  type Step,
} from "../../helpers/scripted-server.js";

const context = { s: { resolver_data: { CustomerEmail: "ada@example.net", Phone: null } } };

const hook: Webhook = {
  name: "Notify",
  endpoint: "https://crm.example.com/api",
  method: "PATCH",
  path: "notices",
  payload: { email: "{{ s.resolver_data.CustomerEmail }}" },
};

function preview(...call: Parameters<typeof prepareCall>) {
  return prepareCall(...call).shown;
}

describe("prepareCall", () => {
  it("shows the call that would be made", () => {
    expect(preview(hook, context)).toEqual({
      method: "PATCH",
      url: "https://crm.example.com/api/notices",
      headers: {
        accept: "*/*",
        "user-agent": "repute",
        "idempotency-key": expect.stringMatching(/^[\da-f-]{36}$/) as string,
        "content-type": "application/json",
      },
      body: '{"email":"ada@example.net"}',
    });
  });

  it.each([
    [{ a: 1 }, "application/json", '{"a":1}'],
    [
      "{{ s.resolver_data }}",
      "application/json",
      '{"CustomerEmail":"ada@example.net","Phone":null}',
    ],
    [5, "application/json", "5"],
    ["Dear Ada", "text/plain; charset=utf-8", "Dear Ada"],
    ["{{ s.resolver_data.CustomerEmail }}", "text/plain; charset=utf-8", "ada@example.net"],
    [null, undefined, null],
    ["{{ s.resolver_data.Phone }}", undefined, null],
  ])("sends the payload %j as %s", (payload, contentType, body) => {
    const shown = preview({ ...hook, payload }, context);
    expect([shown.headers["content-type"], shown.body]).toEqual([contentType, body]);
  });

  it("hides the API key", () => {
    const apiKey = { origin: "https://crm.example.com", key: "hunter2" };
    const shown = preview(hook, context, { apiKey });
    expect(shown.headers["authorization"]).toBe("Bearer [hidden]");
    expect(JSON.stringify(shown)).not.toContain("hunter2");
  });

  it.each([
    ["https://crm.example.com", true],
    ["https://crm.example.com:443/settings", true],
    ["https://crm.example.com:8443", false],
    ["https://crm.example.com.evil.example.org", false],
  ])("with a key for %s sends it: %s", (origin, borne) => {
    const shown = preview(hook, context, { apiKey: { origin, key: "hunter2" } });
    expect("authorization" in shown.headers).toBe(borne);
  });

  it.each(["", "two words", "line\nbreak", "schlüssel"])(
    "refuses the API key %j without printing it",
    (key) => {
      const apiKey = { origin: "https://crm.example.com", key };
      const call = () => preview(hook, context, { apiKey });
      expect(call).toThrow(UsageError);
      expect(call).toThrow(/^the API key for https:\/\/crm\.example\.com is empty or contains/i);
    },
  );

  it("names every error of address and payload at once, and the webhook", () => {
    const bad = { ...hook, path: "a#x", payload: ["{{ s.a }}", "{{"] };
    expect(() => preview(bad, context)).toThrow(WebhookError);
    expect(() => preview(bad, context)).toThrow(
      /^webhook "Notify": 3 problems\n {2}\/path: .*\n {2}\/payload\/1: .*\n {2}\/payload\/0: /,
    );
  });

  describe("with exclusion lists", () => {
    const list = new ExclusionList("ours.txt", "");
    list.domains.add("corp.example.com");
    list.domains.add("intranet");
    list.domains.add("files.corp.internal");
    list.ranges.add("192.0.2.0/24");
    list.mailDomains.add("staff.internal");

    it.each([
      { a: ["host.corp.example.com"] },
      { a: "seen on host.corp.example.com, again" },
      { a: "see https://wiki.corp.example.com/a?b=c" },
      { a: '"ip":192.0.2.1;port' },
      { "192.0.2.1": 1 },
      { a: "intranet" },
      { a: "http://intranet/login" },
      { a: "http://192.0.2.1:8080/" },
      { a: "ask me@files.corp.internal" },
      { a: "open files.corp.internal now" },
    ])("refuses %j", (payload) => {
      expect(() => preview({ ...hook, payload }, context, { exclusions: [list] })).toThrow(
        /an item on the exclusion list ours\.txt; nothing was sent/,
      );
    });

    it.each([
      { a: "notcorp.example.com" },
      { a: "the intranet is down, 192.0.3.1 too" },
      { intranets: 5, b: "corp.example" },
    ])("sends %j", (payload) => {
      const { body } = preview({ ...hook, payload }, context, { exclusions: [list] });
      expect(body).toBe(JSON.stringify(payload));
    });
  });
});

describe("sendWebhook", () => {
  /** Sends to a receiver that answers so; its last answer repeats. */
  async function sent(
    steps: readonly Step[],
    options: Partial<Parameters<typeof sendWebhook>[2]> = {},
    changes: Partial<Webhook> = {},
  ) {
    const clock = new ManualClock();
    const receiver = await startScriptedServer(steps);
    const own = { ...hook, endpoint: `${receiver.url}/api`, ...changes };
    const sending = sendWebhook(own, context, { clock, random: () => 1, ...options });
    return { clock, receiver, delivery: await clock.run(sending) };
  }

  it("calls method, path and endpoint with the rendered payload, and reports what was answered", async () => {
    const { delivery, receiver } = await sent([reply(200, "thanks")]);
    expect(receiver.requests).toMatchObject([
      {
        method: "PATCH",
        path: "/api/notices",
        headers: { "content-type": "application/json" },
        body: '{"email":"ada@example.net"}',
      },
    ]);
    expect(delivery).toMatchObject({
      outcome: "delivered",
      status: 200,
      attempts: 1,
      request: { method: "PATCH", url: `${receiver.url}/api/notices` },
      response: { body: "thanks" },
      error: null,
    });
  });

  it("retries with the same idempotency key", async () => {
    const { delivery, receiver } = await sent([reply(500), reply(503), reset(), reply(204)]);
    expect(delivery).toMatchObject({ outcome: "delivered", status: 204, attempts: 4 });
    const keys = receiver.requests.map(({ headers }) => headers["idempotency-key"]);
    expect(keys).toEqual(Array(4).fill(delivery.idempotencyKey));
  });

  it.each<[string, Step[], number[], object, string?]>([
    [
      "fails after the last attempt",
      [reply(500, "broken")],
      [500, 1000, 2000],
      { outcome: "failed", status: 500, attempts: 4, error: { code: "http_500" } },
      "(tried 4 times)",
    ],
    [
      "obeys Retry-After, with jitter on top",
      [reply(503, "", { "retry-after": "17" }), reply(200)],
      [17_500],
      { outcome: "delivered", attempts: 2 },
    ],
    [
      "fails if Retry-After asks for too long",
      [reply(503, "", { "retry-after": "3600" })],
      [],
      { outcome: "failed", status: 503, attempts: 1 },
      "asks to wait 60 minutes",
    ],
    [
      "does not follow a redirect",
      [reply(307, "", { location: "https://other.example.org/hook?token=abc" }), reply(200)],
      [],
      { outcome: "refused", status: 307, attempts: 1, error: { code: "redirect" } },
      'a redirect to "https://other.example.org/hook"',
    ],
  ])("%s", async (_, steps, pauses, expected, message = "") => {
    const { clock, delivery } = await sent(steps, { retries: 3 });
    expect(clock.asked).toEqual(pauses);
    expect(delivery).toMatchObject(expected);
    expect(delivery.error?.message ?? "").toContain(message);
  });

  it("relies on the status if the body never ends", async () => {
    const steps = [raw("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegin", false)];
    const { delivery } = await sent(steps, { timeout: 200 });
    expect(delivery).toMatchObject({ outcome: "delivered", response: { body: "begin" } });
  });

  it("reports a connection that is refused every time", async () => {
    const endpoint = `http://127.0.0.1:${await freePort()}`;
    const { delivery } = await sent([], { retries: 1 }, { endpoint });
    expect(delivery).toMatchObject({
      outcome: "failed",
      status: null,
      attempts: 2,
      response: null,
      error: {
        code: "connect_refused",
        message: expect.stringContaining("refused the connection (ECONNREFUSED) (tried 2 times)"),
      },
    });
  });

  it.each([400, 408, 422, 429])("does not retry after %i", async (status) => {
    const { delivery } = await sent([reply(status, "no\u001b[31m way")]);
    expect(delivery).toMatchObject({ outcome: "refused", status, attempts: 1 });
    expect(delivery.error?.code).toBe(`http_${status}`);
    expect(delivery.error?.message).toContain(`was answered with ${status}: `);
    expect(delivery.error?.message).toContain(String.raw`The answer says: "no\u001b[31m way"`);
  });

  it.each<[number, string | Buffer, string?, Record<string, string>?]>([
    [401, ""],
    [403, ""],
    [200, '{"error":"Authentication Failed"}'],
    [302, "<html><body>Authentication <em>Failed</em></body></html>"],
    [500, "Authentication Failed", "failed"],
    [200, gzipSync("Authentication Failed"), "refused", { "content-encoding": "gzip" }],
  ])("explains an authentication failure (%i %s) with both steps", async (...given) => {
    const [status, body, end = "refused", headers] = given;
    const { delivery } = await sent([reply(status, body, headers)], { retries: 0 });
    const { error, attempts, outcome } = delivery;
    expect([attempts, outcome]).toEqual([1, end]);
    expect(error?.code).toBe("authentication_failed");
    expect(error?.message).toMatch(/no API key is configured for http:\/\/127\.0\.0\.1:/);
    expect(error?.message).toMatch(/Step 1: generate an API key in the Settings tab/);
    expect(error?.message).toMatch(
      /Step 2: use Bearer authentication.*Authorization: Bearer <API_KEY>/,
    );
  });

  it("accepts a success that echoes the phrase from the payload", async () => {
    const steps = [reply(200, '{"created":"authentication failed on host 7"}')];
    const payload = { title: "Authentication failed on host 7" };
    const { delivery } = await sent(steps, {}, { payload });
    expect(delivery).toMatchObject({ outcome: "delivered", error: null });
  });

  it("never prints the API key, even if the receiver echoes it", async () => {
    const receiver = await startScriptedServer([reply(401, "the key hunter2 is unknown")]);
    const apiKey = { origin: receiver.url, key: "hunter2" };
    const { delivery } = await sent([], { apiKey }, { endpoint: receiver.url });
    expect(delivery.error?.message).toContain("was sent as Bearer and refused");
    expect(JSON.stringify(delivery)).not.toContain("hunter2");
  });

  it("stops during an attempt when its signal aborts", async () => {
    const stop = new AbortController();
    const steps = [() => stop.abort(new Error("stopped"))];
    await expect(sent(steps, { signal: stop.signal })).rejects.toThrow("stopped");
  });
});
