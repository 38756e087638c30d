import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { openApiDocument } from "../../../src/api/openapi.js";
import { lookupEndpoints } from "../../../src/core/finding.js";

type Json = { readonly [member: string]: Json };

const text = JSON.stringify(openApiDocument());
const document = JSON.parse(text) as Json;

function at(...path: string[]): Json | undefined {
  return path.reduce<Json | undefined>((value, step) => value?.[step], document);
}

test("every endpoint of the interface is in it", () => {
  expect(Object.keys(at("paths") ?? {})).toEqual([
    ...lookupEndpoints.map((endpoint) => `/${endpoint}/{item}`),
    "/tags",
    "/tags/{name}",
    "/tags/{name}/ips",
    "/beta/ops/customers",
    "/beta/guardian-ops/rep-share/cases/{caseId}",
    "/api/v1/cases/{caseId}/context",
  ]);
});

test("every reference leads to a schema", () => {
  const names = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference = ""]) => reference);
  const loose = names.filter((name) => at(...name.replace("#/", "").split("/")) === undefined);
  expect([names.length > 0, loose]).toEqual([true, []]);
});

test("every schema is reached from an endpoint or another schema", () => {
  const idle = Object.keys(at("components", "schemas") ?? {}).filter(
    (name) => !text.includes(`"#/components/schemas/${name}"`),
  );
  expect(idle).toEqual([]);
});

test("the required members of a full IP result are those of the interface", () => {
  expect(at("components", "schemas", "IpResult", "required")).toEqual([
    "item",
    "serviceMailBlocklist",
    "type",
    "bogon",
    "tags",
    "firstSeen",
    "lastSeen",
    "intent",
    "reverseDns",
    "abuseContact",
    "asn",
    "observedActivity",
  ]);
});

test("the required members of a partial IP result are item and type", () => {
  expect(at("components", "schemas", "PartialIpResult", "required")).toEqual(["item", "type"]);
});

test("known values are named without closing the enumeration", () => {
  expect(at("components", "schemas", "IpResult", "properties", "intent")).toMatchObject({
    type: ["string", "null"],
    "x-known-values": ["malicious", "suspicious", "unknown", "none"],
  });
});

test("every member of a result says what it means", () => {
  const properties = at("components", "schemas", "IpResult", "properties") ?? {};
  const silent = Object.entries(properties).filter(
    ([, schema]) => !("description" in schema || "$ref" in schema),
  );
  expect(silent).toEqual([]);
});

test("what is outside the specification says so", () => {
  expect([
    at("paths", "/tags", "get", "x-outside-specification"),
    at("components", "securitySchemes", "intelApiKey", "x-outside-specification"),
  ]).toEqual([true, true]);
});

test("a public validator finds nothing wrong with it", async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(JSON.parse(text) as Record<string, unknown>);
  expect([valid, errors, validator.version]).toEqual([true, undefined, "3.1"]);
});

test("it bears the version of the interface description, and the prefix of its paths", () => {
  expect(at("info", "version")).toBe("0.1.0");
  expect(at("servers", "0", "variables", "intel_url", "default")).toMatch(/\/beta$/);
  expect(at("paths")).toHaveProperty("/beta/ops/customers");
});
