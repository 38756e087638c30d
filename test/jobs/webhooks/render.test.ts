import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/core/finding.js";
import {
  formatPath,
  renderPayload,
  throwErrors,
  WebhookError,
} from "../../../src/jobs/webhooks/render.js";
import { anyText } from "../../helpers/any-text.js";

const resolverData = {
  CustomerEmail: "ada@example.net",
  ContractId: 48213,
  Suspended: false,
  Phone: null,
  Addresses: ["192.0.2.17", "2001:db8::17"],
  Site: { City: "Exampleton", "Postal code": "12345" },
};
const context = { case_id: "case-0001", s: { resolver_data: resolverData } };

function rendered(payload: unknown, against: JsonObject = context): unknown {
  const { value, problems } = renderPayload(payload, against);
  throwErrors(problems, "Notify");
  return value;
}

function errorOf(payload: unknown, against: JsonObject = context): WebhookError {
  try {
    rendered(payload, against);
  } catch (error) {
    if (error instanceof WebhookError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

it.each<[unknown, unknown]>([
  // On its own, a field keeps its JSON type.
  ["{{ s.resolver_data.CustomerEmail }}", "ada@example.net"],
  ["{{ s.resolver_data.ContractId }}", 48213],
  ["{{ s.resolver_data.Phone }}", null],
  ["{{ s.resolver_data.Addresses }}", ["192.0.2.17", "2001:db8::17"]],
  ["{{ s.resolver_data.Addresses[1] }}", "2001:db8::17"],
  ["{{ s.resolver_data.Site.Postal code }}", "12345"],
  ["{{ s.resolver_data }}", resolverData],
  ["{{case_id}}", "case-0001"],
  ["{{   case_id   }}", "case-0001"],
  ["{{\n\tcase_id\n}}", "case-0001"],
  // Within a string, it is written out.
  ["<{{ s.resolver_data.CustomerEmail }}>", "<ada@example.net>"],
  ["no. {{ s.resolver_data.ContractId }}", "no. 48213"],
  ["at {{ s.resolver_data.Addresses }}", 'at ["192.0.2.17","2001:db8::17"]'],
  ["in {{ s.resolver_data.Site }}", 'in {"City":"Exampleton","Postal code":"12345"}'],
  ["call {{ s.resolver_data.Phone }}!", "call !"],
  ["{{ s.resolver_data.ContractId }}{{ s.resolver_data.ContractId }}", "4821348213"],
  // At every depth.
  [
    { a: [{ b: "{{ case_id }}" }], c: 1, d: null },
    { a: [{ b: "case-0001" }], c: 1, d: null },
  ],
])("%j is rendered as %j", (payload, value) => {
  expect(rendered({ member: [payload] })).toEqual({ member: [value] });
});

it("a value that looks like a field is not expanded again", () => {
  const sly = { s: { resolver_data: { a: "{{ s.secret }}" }, secret: "hidden" } };
  expect(rendered("a {{ s.resolver_data.a }}", sly)).toBe("a {{ s.secret }}");
});

const large = JSON.parse('{"id":9007199254740993,"all":[{"id":-9007199254740993}]}') as JsonObject;
const deep: unknown = JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`);

it.each<[string, unknown, JsonObject, string]>([
  ["numbers that have lost digits", "{{ id }}", large, "inexact_number"],
  ["such numbers in text", "no. {{ id }}", large, "inexact_number"],
  ["such numbers in a list", "{{ all }}", large, "inexact_number"],
  ["such numbers in a list in text", "in {{ all }}", large, "inexact_number"],
  ["a number beyond all", Number.POSITIVE_INFINITY, large, "inexact_number"],
  ["a payload that nests without end", deep, context, "too_large"],
  ["a context that nests without end in text", "x {{ s }}", { s: deep }, "too_large"],
])("refuses %s", (_, member, against, code) => {
  expect(errorOf({ member }, against).code).toBe(code);
});

describe("an unknown field", () => {
  it("is named with its place and the existing fields, the nearest first", () => {
    const error = errorOf({ "a/b": ["{{ s.resolver_data.Fax }}"] });
    expect(error.code).toBe("unknown_field");
    expect(error.message).toContain("/payload/a~1b/0: ");
    expect(error.message).toContain("no field s.resolver_data.Fax");
    expect(error.message).toContain("Existing fields: s.resolver_data, s.resolver_data.Site, ");
    expect(errorOf("{{ CustomerEmail }}").message).toContain(", s.resolver_data.CustomerEmail, ");
  });

  it("does not hide another one", () => {
    const error = errorOf(["{{ s.a }}", "x {{ s.b }} {{ s.c }}"]);
    expect(error.problems.map((problem) => problem.pointer)).toEqual([
      "/payload/0",
      "/payload/1",
      "/payload/1",
    ]);
    expect(error.message.match(/Existing fields/g)).toHaveLength(1);
  });
});

describe("a hostile context", () => {
  it("cannot pollute prototypes through a whole object", () => {
    const hostile = JSON.parse(
      '{"s":{"resolver_data":{"__proto__":{"admin":true}}}}',
    ) as JsonObject;
    expect(JSON.stringify(rendered({ all: "{{ s.resolver_data }}" }, hostile))).toBe(
      '{"all":{"__proto__":{"admin":true}}}',
    );
    expect(({} as Record<string, unknown>)["admin"]).toBeUndefined();
  });

  it("never makes rendering reach an inherited member", () => {
    const names = Object.getOwnPropertyNames(Object.prototype);
    fc.assert(
      fc.property(
        fc.constantFrom(...names),
        fc.constantFrom("", "s.", "s.resolver_data."),
        (name, at) => {
          expect(errorOf(`{{ ${at}${name} }}`).code).toBe("unknown_field");
        },
      ),
    );
  });

  it("never makes rendering evaluate anything", () => {
    fc.assert(
      fc.property(fc.string(), (inner) => {
        fc.pre(!/^\s*(s(\s|\.|\[|$)|case_id)/.test(inner) && !inner.includes("}}"));
        expect(() => rendered(`{{${inner}}}`)).toThrow(WebhookError);
      }),
    );
  });
});

describe("a field", () => {
  it.each([
    ["{{ s.x", "no closing"],
    ["{{ }}", "write the path"],
    ["{{ s..x }}", "write the path"],
    ["{{ s[x] }}", "write the path"],
    ["{{{ s.x }}}", "write the path"],
  ])("that is malformed is explained: %j", (text, message) => {
    expect(errorOf({ note: text })).toMatchObject({
      code: "malformed_field",
      problems: [
        {
          pointer: "/payload/note",
          message: expect.stringMatching(`at character 1: .*${message}`),
        },
      ],
    });
  });

  it("is read behind an invalid one", () => {
    const { value, problems } = renderPayload("a {{ . }} b {{ case_id }} {{ }}", context);
    expect(value).toBe("a  b case-0001 ");
    const places = problems.map(({ message }) => /character (\d+)/.exec(message)?.[1]);
    expect(places).toEqual(["3", "27"]);
  });

  it("may have every path that messages name", () => {
    const name = fc.oneof(fc.string(), anyText()).filter((text) => /^[^.[\]{}]+$/.test(text));
    const step = fc.oneof(name, fc.nat(999_999_999));
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        fc.pre(!/\s$/.test(String(steps.at(-1))) && !steps.includes("__proto__"));
        const s = steps.reduceRight<unknown>(
          (value, at) => Object.assign(typeof at === "number" ? [] : {}, { [at]: value }),
          "found",
        );
        expect(rendered(`{{ ${formatPath(["s", ...steps])} }}`, { s })).toBe("found");
      }),
    );
  });

  it.each([
    ["a member of a text", "text.length"],
    ["a member of an array", "list.length"],
    ["an index of an object", "s[0]"],
    ["an index beyond the end", "list[9]"],
    ["an inherited member", "constructor"],
    ["the prototype", "__proto__"],
    ["a member of __proto__ that the JSON has", "__proto__.admin"],
  ])("does not reach %s", (_, path) => {
    const json = '{"s":{"0":1},"text":"abc","list":[1],"__proto__":{"admin":true}}';
    expect(errorOf(`{{ ${path} }}`, JSON.parse(json) as JsonObject).code).toBe("unknown_field");
  });
});
