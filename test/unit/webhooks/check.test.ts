import { describe, expect, it } from "vitest";
import { checkWebhook } from "../../../src/webhooks/check.js";
import type { Webhook } from "../../../src/webhooks/configuration.js";

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

  it("cannot detect an unknown field without a case", () => {
    expect(codes({ payload: "{{ s.resolver_data.Fax }}" })).toEqual([]);
  });

  it("detects an unknown field with a case", () => {
    const [problem] = checkWebhook(webhook({ payload: "{{ s.resolver_data.Fax }}" }), context);
    expect(problem).toMatchObject({ level: "error", code: "unknown_field", pointer: "/payload" });
    expect(problem?.message).toContain("Existing fields: s.resolver_data, ");
  });

  it("puts errors before warnings", () => {
    const problems = checkWebhook(
      webhook({ endpoint: "http://crm.example.com", payload: ["48213", "{{ s.nope }}"] }),
      context,
    );
    expect(problems.map((problem) => problem.level)).toEqual(["error", "warning", "warning"]);
  });

  it.each([
    ["{{ s.resolver_data.CustomerEmail", "malformed_field"],
    ["to s.resolver_data.CustomerEmail", "bare_field"],
    ["Phone: {{ s.resolver_data.Phone }}", "null_in_text"],
    ['{"email": "{{ s.resolver_data.CustomerEmail }}"}', "json_as_text"],
  ])("finds in the text %j: %s", (payload, code) => {
    expect(codes({ payload }, context)).toEqual([[code, "/payload"]]);
  });

  it("warns about a field in a member name", () => {
    expect(codes({ payload: { "{{ s.x }}": 1 } })).toEqual([
      ["field_in_member_name", "/payload/{{ s.x }}"],
    ]);
  });

  it("warns about a payload with GET", () => {
    expect(codes({ method: "GET" })).toEqual([["payload_with_get", "/payload"]]);
    expect(codes({ method: "GET", payload: null })).toEqual([]);
  });
});

describe("subscriber data as static text", () => {
  it.each([
    ["an equal text", "48213"],
    ["a number", 48213],
    ["a text that holds it", "contract 48213, second notice"],
    ["a text between other signs", "[48213]"],
  ])("is warned about as %s", (_, value) => {
    expect(codes({ payload: { a: [value] } }, context)).toEqual([["static_data", "/payload/a/0"]]);
  });

  it("is reported with the field to use instead", () => {
    const [problem] = checkWebhook(webhook({ payload: ["In EXAMPLETON."] }), context);
    expect(problem?.message).toContain("write {{ s.resolver_data.Site.City }} instead");
  });

  it("is reported with every field that has its value", () => {
    const [problem] = checkWebhook(webhook({ payload: ["ada@example.net"] }), context);
    expect(problem?.message).toContain(
      "{{ s.resolver_data.CustomerEmail }} or {{ s.resolver_data.BillingEmail }}",
    );
  });

  it("is not repeated in the warning", () => {
    const [problem] = checkWebhook(webhook({ payload: ["to ada@example.net"] }), context);
    expect(problem?.message).not.toContain("ada@example.net");
  });

  it("is found beside a field", () => {
    const payload = "{{ s.resolver_data.CustomerEmail }} of Ada";
    expect(codes({ payload }, context)).toEqual([["static_data", "/payload"]]);
  });

  it("counts only the longest of nested values", () => {
    expect(codes({ payload: ["ada@example.net"] }, context)).toHaveLength(1);
    expect(codes({ payload: ["Ada, ada@example.net"] }, context)).toHaveLength(2);
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

  it("is not searched for without a case", () => {
    expect(codes({ payload: ["ada@example.net", 48213] })).toEqual([]);
  });

  it("is not searched for if no subscriber was resolved", () => {
    expect(checkWebhook(webhook({ payload: ["ada@example.net"] }), { s: {} })).toEqual([]);
  });

  it("is searched for in a context of a hundred thousand fields", () => {
    const many = Object.fromEntries(
      Array.from({ length: 100_000 }, (_, i) => [`f${i}`, `value-${i}`]),
    );
    const found = checkWebhook(webhook({ payload: ["value-17"] }), { s: { resolver_data: many } });
    expect(found).toHaveLength(1);
  });
});
