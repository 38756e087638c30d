import { describe, expect, it } from "vitest";
import { checkWebhook } from "../../../src/jobs/webhooks/check.js";
import type { Webhook } from "../../../src/jobs/webhooks/configuration.js";

const context = {
  s: {
    resolver_data: {
      CustomerEmail: "ada@example.net",
      BillingEmail: "ada@example.net",
      CustomerName: "Ada",
      ContractId: 48213,
      Suspended: true,
      Country: "DE",
      Reason: "none",
      Phone: null,
      Site: { City: "Exampleton" },
      Reference: "(a.b)*[c]+{1}?|^$/\\-",
    },
  },
};

function webhook(changes: Partial<Webhook> = {}): Webhook {
  return {
    name: "Notify",
    endpoint: "https://crm.example.com/api",
    method: "POST",
    payload: { email: "{{ s.resolver_data.CustomerEmail }}" },
    ...changes,
  };
}

function codes(changes: Partial<Webhook>, against?: typeof context) {
  return checkWebhook(webhook(changes), against).map(({ code, pointer }) => [code, pointer]);
}

describe("checkWebhook", () => {
  it("finds nothing in a good webhook", () => {
    expect(checkWebhook(webhook(), context)).toEqual([]);
  });

  it.each([undefined, context])(
    "reports a malformed field once, with or without a case",
    (against) => {
      expect(codes({ payload: { a: "{{ s.x" } }, against)).toEqual([
        ["malformed_field", "/payload/a"],
      ]);
    },
  );

  it("detects an unknown field with a case only", () => {
    const payload = "{{ s.resolver_data.Fax }}";
    expect(codes({ payload })).toEqual([]);
    expect(codes({ payload }, context)).toEqual([["unknown_field", "/payload"]]);
  });

  it.each([
    ["{{ s.resolver_data.CustomerEmail", "malformed_field"],
    ["Phone: {{ s.resolver_data.Phone }}", "null_in_text"],
  ])("finds in the text %j: %s", (payload, code) => {
    expect(codes({ payload }, context)).toEqual([[code, "/payload"]]);
  });
});

describe("subscriber data as static text", () => {
  it.each([
    ["an equal text", "48213"],
    ["a number", 48213],
    ["a text that holds it", "contract 48213, second notice"],
    ["a text between other signs", "[48213]"],
    ["a text full of signs", "(A.B)*[C]+{1}?|^$/\\-"],
  ])("is warned about as %s", (_, value) => {
    expect(codes({ payload: { a: [value] } }, context)).toEqual([["static_data", "/payload/a/0"]]);
  });

  it("is reported with the fields to use instead, and without the data", () => {
    const messageOf = (text: string) =>
      checkWebhook(webhook({ payload: [text] }), context)[0]?.message;
    expect(messageOf("In EXAMPLETON.")).toContain("write {{ s.resolver_data.Site.City }} instead");
    const message = messageOf("to ada@example.net");
    expect(message).toContain(
      "{{ s.resolver_data.CustomerEmail }} or {{ s.resolver_data.BillingEmail }}",
    );
    expect(message).not.toContain("ada@example.net");
  });

  it("is found beside a field", () => {
    const payload = "{{ s.resolver_data.CustomerEmail }} of Ada";
    expect(codes({ payload }, context)).toEqual([["static_data", "/payload"]]);
  });

  it.each([["adamant"], ["148213"], ["true"], [true], ["DE"], ["none"], ["{{ s.resolver_data }}"]])(
    "is not seen in %j",
    (value) => {
      expect(codes({ payload: [value] }, context)).toEqual([]);
    },
  );

  it.each([
    [{ path: "/customers/48213" }, "/path"],
    [{ path: "/mail/ada%40example.net" }, "/path"],
    [{ path: "/find?name=Ada" }, "/path"],
    [{ endpoint: "https://crm.example.com/customers/48213" }, "/endpoint"],
  ])("is reported in the address: %j", (changes, pointer) => {
    expect(codes(changes, context)).toEqual([["static_data", pointer]]);
  });

  it("is not searched for without a case, or if no subscriber was resolved", () => {
    const payload = ["ada@example.net", 48213];
    expect(codes({ payload })).toEqual([]);
    expect(checkWebhook(webhook({ payload }), { s: {} })).toEqual([]);
  });
});
