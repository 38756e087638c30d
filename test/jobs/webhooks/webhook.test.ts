import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { UsageError } from "../../../src/core/errors.js";
import {
  addressProblems,
  checkWebhook,
  parseWebhook,
  readWebhook,
  type Webhook,
  webhookUrl,
} from "../../../src/jobs/webhooks/webhook.js";
import { prepareCall } from "../../../src/jobs/webhooks/send.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const good: Webhook = {
  name: "Notify",
  endpoint: "https://crm.example.com/api",
  method: "POST",
  payload: { email: "{{ s.resolver_data.CustomerEmail }}" },
};

function faultOf(text: string): UsageError {
  try {
    parseWebhook(text, "hooks.json");
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("parseWebhook", () => {
  it.each([[null], ["text {{ s.x }}"], [[1, 2]], [false], [0]])(
    "accepts %j as payload",
    (payload) => {
      expect(parseWebhook(JSON.stringify({ ...good, payload }), "x").payload).toEqual(payload);
    },
  );

  it("reads YAML", () => {
    const text = `# CRM
name: Notify
endpoint: https://crm.example.com/api
method: POST
payload: { email: "{{ s.resolver_data.CustomerEmail }}" }
`;
    expect(parseWebhook(text, "hooks.yaml")).toEqual(good);
  });

  it.each([
    ['{\n  "name": "a",\n  "endpoint": "b"\n', 4, 1],
    ["name: a\nname: b\n", 2, 1],
    ["\uFEFFname: a\npayload:\n\t- b\n", 3, 1],
  ])("names file, line and column of the fault in %j", (text, line, column) => {
    const { code, message } = faultOf(text);
    expect(code).toBe("webhook_syntax");
    expect(message.split(": ")[0]).toBe(`hooks.json, line ${line}, column ${column}`);
  });

  it.each([
    [{ ...good, method: "post" }, "/method must be one of POST, PUT, PATCH, DELETE, GET"],
    [{ ...good, endpoint: 1 }, "/endpoint must be a string"],
    [{ ...good, name: " " }, "/name must not be empty"],
    [{ ...good, path: 1 }, "/path must be a string"],
    [{ ...good, name: undefined }, "/name is missing"],
    [{ ...good, endpoint: undefined }, "/endpoint is missing"],
    [{ ...good, method: undefined }, "/method is missing"],
    [{ ...good, payload: undefined }, "/payload is missing"],
    [{ ...good, Path: "/x" }, 'unknown member "Path"'],
    [[good], "a webhook must be an object with name, endpoint, method and payload"],
  ])("names the invalid member: %j", (webhook, message) => {
    expect(faultOf(JSON.stringify(webhook)).message).toBe(`hooks.json: ${message}`);
  });

  it("names every fault", () => {
    const { message } = faultOf(JSON.stringify({ ...good, method: "X", name: "" }));
    expect(message).toContain("2 faults");
    expect(message).toContain("/name must not be empty");
    expect(message).toContain("/method must be one of");
  });
});

it("readWebhook reads a file, and names one that does not exist", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "hooks.json"), JSON.stringify(good));
  await expect(readWebhook(join(folder, "hooks.json"))).resolves.toEqual(good);
  const none = join(folder, "none.json");
  await expect(readWebhook(none)).rejects.toThrow(`cannot read the webhook ${none}: no such file`);
});

const base = "https://crm.example.com";

describe("webhookUrl", () => {
  it.each([
    [base, undefined, "/"],
    [base, "notices", "/notices"],
    [`${base}/api`, undefined, "/api"],
    [`${base}/api`, "notices", "/api/notices"],
    [`${base}/api/`, "/notices/", "/api/notices/"],
    [`${base}/api`, "/a b/ü", "/api/a%20b/%C3%BC"],
    [`${base}/api`, "a%2Fb", "/api/a%2Fb"],
    [`${base}/api`, "n?x=1&y=a?b", "/api/n?x=1&y=a?b"],
    [`${base}/api?v=2`, undefined, "/api?v=2"],
    [`${base}/api`, "tags/credentials:brute-force", "/api/tags/credentials:brute-force"],
  ])("joins %s and %s", (endpoint, path, joined) => {
    expect(webhookUrl({ endpoint, path }).href).toBe(base + joined);
  });

  it.each([
    "a#b",
    "{{ s.resolver_data.CustomerId }}",
    "../x",
    "a/../../x",
    "%2e%2e/x",
    "https://evil.example/x",
    "//evil.example/x",
    "\\\\evil.example",
  ])("refuses the path %j", (path) => {
    const problems = addressProblems({ endpoint: `${base}/api`, path });
    expect(problems.map(({ level, pointer }) => [level, pointer])).toEqual([["error", "/path"]]);
  });

  it("never leaves the origin of the endpoint, whatever the path", () => {
    const pieces = "/ \\ . .. %2e %2f %5c @ : ? # a \t https:".split(" ");
    const piece = fc.oneof(fc.constantFrom(...pieces), fc.string());
    fc.assert(
      fc.property(fc.array(piece), (drawn) => {
        const path = drawn.join("");
        const problems = addressProblems({ endpoint: `${base}/api`, path });
        if (problems.some((problem) => problem.level === "error")) return;
        const url = webhookUrl({ endpoint: `${base}/api`, path });
        expect(url.href.slice(0, base.length + 4)).toBe(`${base}/api`);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("addressProblems", () => {
  it.each([
    ["https://user:hunter2@crm.example.com", "error", "credentials_in_endpoint"],
    ["ftp://crm.example.com", "error", "bad_endpoint"],
    ["https://crm.example.com/{{ s.x }}", "error", "field_outside_payload"],
    ["https://crm.example.com/#x", "error", "bad_path"],
    ["https://crm.example.com/api?page=1", "error", "bad_endpoint"],
    ["http://crm.example.com", "warning", "plain_http"],
  ])("finds the fault in %s and hides the secret", (endpoint, level, code) => {
    expect(addressProblems({ endpoint, path: "/x" })).toEqual([
      { level, code, pointer: "/endpoint", message: expect.not.stringContaining("hunter2") },
    ]);
  });

  it.each(["http://localhost:8080", "http://127.0.0.1:8080", "http://[::1]:8080"])(
    "accepts %s",
    (endpoint) => {
      expect(addressProblems({ endpoint, path: "/x" })).toEqual([]);
    },
  );
});

it("a call is shown without the values of parameters that look like secrets", () => {
  const hook = { ...good, endpoint: `${base}/a?page=1&token=hunter2&x=%20`, payload: null };
  expect(prepareCall(hook, {}).shown.url).toBe(`${base}/a?page=1&token=[hidden]&x=%20`);
});

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

function codes(changes: Partial<Webhook>, against?: typeof context) {
  return checkWebhook({ ...good, ...changes }, against).map(({ code, pointer }) => [code, pointer]);
}

it("checkWebhook finds nothing in a good webhook, and a malformed or unknown field", () => {
  expect(codes({}, context)).toEqual([]);
  for (const against of [undefined, context]) {
    const found = codes({ payload: { a: "{{ s.x" } }, against);
    expect(found).toEqual([["malformed_field", "/payload/a"]]);
  }
  const payload = "{{ s.resolver_data.Fax }}";
  expect(codes({ payload })).toEqual([]);
  expect(codes({ payload }, context)).toEqual([["unknown_field", "/payload"]]);
});

describe("subscriber data as static text", () => {
  it.each<[string, Partial<Webhook>, string]>([
    ["an equal text", { payload: ["48213"] }, "/payload/0"],
    ["a number", { payload: [48213] }, "/payload/0"],
    ["a text that holds it", { payload: ["contract 48213, second notice"] }, "/payload/0"],
    ["a text between other signs", { payload: ["[48213]"] }, "/payload/0"],
    ["a text full of signs", { payload: ["(A.B)*[C]+{1}?|^$/\\-"] }, "/payload/0"],
    ["text beside a field", { payload: "{{ s.resolver_data.CustomerEmail }} of Ada" }, "/payload"],
    ["part of the path", { path: "/customers/48213" }, "/path"],
    ["an encoded part of the path", { path: "/mail/ada%40example.net" }, "/path"],
    ["a parameter", { path: "/find?name=Ada" }, "/path"],
    ["part of the endpoint", { endpoint: `${base}/customers/48213` }, "/endpoint"],
  ])("is warned about as %s", (_, changes, pointer) => {
    expect(codes(changes, context)).toEqual([["static_data", pointer]]);
  });

  it("is reported with the fields to use instead, and without the data", () => {
    const messageOf = (text: string) =>
      checkWebhook({ ...good, payload: [text] }, context)[0]?.message;
    expect(messageOf("In EXAMPLETON.")).toContain(
      "write {{ s.resolver_data.Site.City }} in the payload instead",
    );
    const message = messageOf("to ada@example.net");
    expect(message).toContain(
      "{{ s.resolver_data.CustomerEmail }} or {{ s.resolver_data.BillingEmail }}",
    );
    expect(message).not.toContain("ada@example.net");
  });

  it.each([["adamant"], ["148213"], ["true"], [true], ["DE"], ["none"], ["{{ s.resolver_data }}"]])(
    "is not seen in %j",
    (value) => {
      expect(codes({ payload: [value] }, context)).toEqual([]);
    },
  );

  it("is not searched for without a case, or if no subscriber was resolved", () => {
    const payload = ["ada@example.net", 48213];
    expect(codes({ payload })).toEqual([]);
    expect(checkWebhook({ ...good, payload }, { s: {} })).toEqual([]);
  });
});
