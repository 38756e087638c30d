import { describe, expect, it } from "vitest";
import { UsageError } from "../../../src/core/errors.js";
import { ExclusionList } from "../../../src/core/exclusions/exclusion-list.js";
import type { Webhook } from "../../../src/jobs/webhooks/configuration.js";
import { prepareCall } from "../../../src/jobs/webhooks/send.js";
import { WebhookError } from "../../../src/jobs/webhooks/render.js";

const webhook: Webhook = {
  name: "Notify",
  endpoint: "https://crm.example.com/api",
  method: "PATCH",
  path: "notices",
  payload: { email: "{{ s.resolver_data.CustomerEmail }}" },
};
const context = { s: { resolver_data: { CustomerEmail: "ada@example.net", Phone: null } } };

function preview(...call: Parameters<typeof prepareCall>) {
  return prepareCall(...call).shown;
}

describe("prepareCall", () => {
  it("shows the call that would be made", () => {
    expect(preview(webhook, context)).toEqual({
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
    const shown = preview({ ...webhook, payload }, context);
    expect([shown.headers["content-type"], shown.body]).toEqual([contentType, body]);
  });

  it("hides the API key", () => {
    const apiKey = { origin: "https://crm.example.com", key: "hunter2" };
    const shown = preview(webhook, context, { apiKey });
    expect(shown.headers["authorization"]).toBe("Bearer [hidden]");
    expect(JSON.stringify(shown)).not.toContain("hunter2");
  });

  it.each([
    ["https://crm.example.com", true],
    ["https://crm.example.com:443/settings", true],
    ["https://crm.example.com:8443", false],
    ["https://crm.example.com.evil.example.org", false],
  ])("with a key for %s sends it: %s", (origin, borne) => {
    const shown = preview(webhook, context, { apiKey: { origin, key: "hunter2" } });
    expect("authorization" in shown.headers).toBe(borne);
  });

  it.each(["", "two words", "line\nbreak", "schlüssel"])(
    "refuses the API key %j without printing it",
    (key) => {
      const apiKey = { origin: "https://crm.example.com", key };
      const call = () => preview(webhook, context, { apiKey });
      expect(call).toThrow(UsageError);
      expect(call).toThrow(/^the API key for https:\/\/crm\.example\.com is empty or contains/i);
    },
  );

  it("names every error of address and payload at once, and the webhook", () => {
    const bad = { ...webhook, path: "../x", payload: ["{{ s.a }}", "{{"] };
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
      expect(() => preview({ ...webhook, payload }, context, { exclusions: [list] })).toThrow(
        /an item on the exclusion list ours\.txt; nothing was sent/,
      );
    });

    it.each([
      { a: "notcorp.example.com" },
      { a: "the intranet is down, 192.0.3.1 too" },
      { intranets: 5, b: "corp.example" },
    ])("sends %j", (payload) => {
      const { body } = preview({ ...webhook, payload }, context, { exclusions: [list] });
      expect(body).toBe(JSON.stringify(payload));
    });
  });
});
