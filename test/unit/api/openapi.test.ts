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

test("contains every endpoint of the interface", () => {
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

test("has no schema that nothing refers to", () => {
  const idle = Object.keys(at("components", "schemas") ?? {}).filter(
    (name) => !text.includes(`"#/components/schemas/${name}"`),
  );
  expect(idle).toEqual([]);
});

test("names known values without closing the enumeration", () => {
  expect(at("components", "schemas", "IpResult", "properties", "intent")).toMatchObject({
    type: ["string", "null"],
    "x-known-values": ["malicious", "suspicious", "unknown", "none"],
  });
});

test("describes every member of a result", () => {
  const properties = at("components", "schemas", "IpResult", "properties") ?? {};
  const silent = Object.entries(properties).filter(
    ([, schema]) => !("description" in schema || "$ref" in schema),
  );
  expect(silent).toEqual([]);
});

test("passes a public validator", async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(JSON.parse(text) as Record<string, unknown>);
  expect([valid, errors, validator.version]).toEqual([true, undefined, "3.1"]);
});
