import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addressProblems, shownUrl, webhookUrl } from "../../../src/jobs/webhooks/configuration.js";
import { WebhookError } from "../../../src/jobs/webhooks/render.js";

const name = "Notify";
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
    [`${base}/api?v=2`, "n?x=1", "/api/n?v=2&x=1"],
    [`${base}/api?v=2`, "?x=1", "/api?v=2&x=1"],
    [`${base}/api`, "tags/credentials:brute-force", "/api/tags/credentials:brute-force"],
  ])("joins %s and %s", (endpoint, path, joined) => {
    expect(webhookUrl({ name, endpoint, path }).href).toBe(base + joined);
  });

  it.each([
    "//evil.example.org/x",
    "https://evil.example.org/x",
    "\\\\evil.example.org",
    "/\\evil.example.org",
    "../admin",
    "a/./b",
    "%2e%2e/admin",
    "a%2f..%2fadmin",
    ".\t./admin",
    "a\r\nb",
    "50%",
    "a#b",
    "{{ s.resolver_data.CustomerId }}",
  ])("refuses the path %j", (path) => {
    expect(() => webhookUrl({ name, endpoint: `${base}/api`, path })).toThrow(WebhookError);
  });

  it("never leaves the endpoint, whatever the path", () => {
    const piece = fc.constantFrom(
      "/",
      "\\",
      ".",
      "..",
      "%2e",
      "%2f",
      "%5c",
      "@",
      ":",
      "?",
      "#",
      "a",
      "\t",
      "https:",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string())), (pieces) => {
        const path = pieces.join("");
        const problems = addressProblems({ name, endpoint: `${base}/api`, path });
        if (problems.some((problem) => problem.level === "error")) return;
        const url = webhookUrl({ name, endpoint: `${base}/api`, path });
        expect(url.origin).toBe(base);
        expect(url.pathname).toMatch(/^\/api(\/|$)/);
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
    ["http://crm.example.com", "warning", "plain_http"],
  ])("finds the fault in %s and hides the secret", (endpoint, level, code) => {
    const problems = addressProblems({ name, endpoint });
    expect(problems).toEqual([
      { level, code, pointer: "/endpoint", message: expect.not.stringContaining("hunter2") },
    ]);
  });

  it.each([
    "https://crm.example.com/api?page=1",
    "http://localhost:8080",
    "http://127.0.0.1:8080",
    "http://[::1]:8080",
  ])("accepts %s", (endpoint) => {
    expect(addressProblems({ name, endpoint, path: "/x" })).toEqual([]);
  });
});

it("shownUrl hides the values of parameters that look like secrets", () => {
  const url = new URL(`${base}/a?page=1&token=hunter2&x=%20`);
  expect(shownUrl(url)).toBe(`${base}/a?page=1&token=[hidden]&x=%20`);
});
