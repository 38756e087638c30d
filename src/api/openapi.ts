import { z } from "zod";
import { lookupEndpoints } from "../core/finding.js";
import { camelCase, endpoints } from "./endpoints.js";
import { intelServer, openApiPaths } from "./openapi-paths.js";
import { caseContextSchema } from "./schema/case-context.js";
import { customersPageSchema } from "./schema/customers.js";
import {
  failureEnvelopeSchema,
  partialSuccessEnvelope,
  successEnvelope,
} from "./schema/envelope.js";
import { observedActivitySchema } from "./schema/observed-activity.js";
import {
  partialDomainResultSchema,
  partialIpResultSchema,
  partialResultSchema,
} from "./schema/partial-result.js";
import {
  cryptoWalletResultSchema,
  domainResultSchema,
  emailResultSchema,
  ipBogonResultSchema,
  ipResultSchema,
  sha1ResultSchema,
  urlResultSchema,
} from "./schema/query-result.js";
import { repShareCaseSchema } from "./schema/rep-share-case.js";
import { tagIpsSchema } from "./schema/tag-ips.js";
import { tagListSchema, tagSchema } from "./schema/tag.js";

/**
 * The interface as an OpenAPI 3.1 document, generated from the schemas that the client and the
 * embedded service use. What is known beyond the specification bears `x-outside-specification`.
 */
export function openApiDocument(): object {
  return {
    openapi: "3.1.0",
    info: {
      title: "Threat intelligence lookup, case and webhook interface",
      // interface: Versioning, 1
      version: "0.1.0",
      description:
        "Reputation of IP addresses, domains, URLs, SHA1 hashes, crypto wallets and e-mail addresses; " +
        "tags and their IP lists; customers, reputation-share cases and case contexts. Unknown members " +
        "and unknown values of enumerations (`x-known-values`) are to be expected.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [intelServer],
    tags: [
      { name: "intelligence", description: "Lookups and tags" },
      { name: "operations", description: "Customers and reputation-share cases" },
      { name: "case management", description: "The context of a case" },
    ],
    paths: openApiPaths(),
    components: {
      schemas: componentSchemas(),
      securitySchemes: {
        intelApiKey: {
          type: "apiKey",
          in: "header",
          name: "x-api-key",
          description:
            "Wanted by the deployed service, which answers 403 without it; the specification has no credential here.",
          "x-outside-specification": true,
        },
        opsAccessToken: {
          type: "http",
          scheme: "bearer",
          description: "The caller's auth token (interface: Authentication, 2).",
        },
        caseApiKey: {
          type: "http",
          scheme: "bearer",
          description: "API key generated in the Settings tab (interface: Authentication, 3).",
        },
      },
    },
  };
}

/** The schemas of everything that has a name, by that name. */
function componentSchemas(): Record<string, unknown> {
  const named: Readonly<Record<string, z.ZodType>> = {
    IpResult: ipResultSchema,
    IpBogonResult: ipBogonResultSchema,
    DomainResult: domainResultSchema,
    UrlResult: urlResultSchema,
    Sha1Result: sha1ResultSchema,
    CryptoWalletResult: cryptoWalletResultSchema,
    EmailResult: emailResultSchema,
    ObservedActivity: observedActivitySchema,
    PartialIpResult: partialIpResultSchema,
    PartialDomainResult: partialDomainResultSchema,
    PartialResult: partialResultSchema,
    Tag: tagSchema,
    TagList: tagListSchema,
    TagIps: tagIpsSchema,
    CustomersPage: customersPageSchema,
    RepShareCase: repShareCaseSchema,
    CaseContext: caseContextSchema,
    Failure: failureEnvelopeSchema,
    ...lookupSchemas(),
    TagAnswer: successEnvelope(tagSchema),
    TagListAnswer: successEnvelope(tagListSchema),
    TagIpsAnswer: successEnvelope(tagIpsSchema),
  };
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => mergeNull(jsonSchema),
  });
  for (const schema of Object.values(schemas)) {
    // The dialect is that of OpenAPI 3.1, and the name is the key.
    delete schema.$schema;
    delete schema.$id;
  }
  return schemas;
}

function lookupSchemas(): Record<string, z.ZodType> {
  const schemas: Record<string, z.ZodType> = {};
  for (const endpoint of lookupEndpoints) {
    const { result, partial } = endpoints[endpoint];
    const name = camelCase(endpoint, "upper");
    schemas[`${name}Result`] = result;
    schemas[`${name}Answer`] = successEnvelope(result);
    if (partial) schemas[`Partial${name}Answer`] = partialSuccessEnvelope(partial);
  }
  return schemas;
}

/** Writes "a text or null" as one schema with two types, which is easier to read than a choice of two. */
function mergeNull(schema: z.core.JSONSchema.BaseSchema): void {
  const [first, second, ...rest] = schema.anyOf ?? [];
  if (first?.type === undefined || second?.type !== "null" || rest.length > 0) return;
  if (first.$ref !== undefined || Array.isArray(first.type)) return;
  const { type, const: only, ...others } = first;
  delete schema.anyOf;
  Object.assign(schema, others, { type: [type, "null"] });
  if (only !== undefined) schema.enum = [only, null];
}
