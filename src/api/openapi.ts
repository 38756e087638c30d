import { z } from "zod";
import { lookupEndpoints } from "../core/finding.js";
import { calls, type CallSpec, pathParameter } from "./calls.js";
import { camelCase, endpoints } from "./endpoints.js";
import {
  failureEnvelopeSchema,
  partialSuccessEnvelope,
  successEnvelope,
} from "./schema/vocabulary.js";
import {
  observedActivitySchema,
  partialResults,
  partialResultSchema,
  results,
} from "./schema/query-result.js";
import type { ServiceName } from "./service-description.js";

/**
 * The interface as an OpenAPI 3.1 document, generated from the schemas of client and embedded service.
 * Marks what isn't in the specification with `x-outside-specification`.
 */
export function openApiDocument(): object {
  return {
    openapi: "3.1.0",
    info: {
      title: "Threat intelligence lookup, case and webhook interface",
      // Version of the specification.
      version: "0.1.0",
      description:
        "Reputation of IP addresses, domains, URLs, SHA1 hashes, crypto wallets and e-mail addresses; " +
        "tags and their IP lists; customers, reputation-share cases and case contexts. Unknown members " +
        "and unknown values of enumerations (`x-known-values`) may occur.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [services.intel.server],
    tags: Object.values(services).map(({ tag: name, about: description }) => ({
      name,
      description,
    })),
    paths: Object.fromEntries([...lookupPaths(), ...Object.values(calls).map(callPath)]),
    components: {
      schemas: componentSchemas(),
      securitySchemes: Object.fromEntries(
        Object.values(services).map(({ scheme, security }) => [scheme, security]),
      ),
    },
  };
}

const services = {
  intel: {
    tag: "intelligence",
    about: "Lookups and tags",
    server: server(
      "intel_url",
      "https://intel.example.com/beta",
      "Base address of the threat intelligence interface; its path prefix /beta is part of it",
    ),
    scheme: "intelApiKey",
    security: {
      type: "apiKey",
      in: "header",
      name: "x-api-key",
      description:
        "Required by deployed services, which answer 403 without it; the specification has no credential here.",
      "x-outside-specification": true,
    },
  },
  ops: {
    tag: "operations",
    about: "Customers and reputation-share cases",
    server: server(
      "base_url",
      "https://ops.example.com",
      "Base address of the operations interface",
    ),
    scheme: "opsAccessToken",
    security: {
      type: "http",
      scheme: "bearer",
      description: "The caller's auth token.",
    },
  },
  case: {
    tag: "case management",
    about: "Case contexts",
    server: server(
      "case_url",
      "https://cases.example.com",
      "Address of a customer's case management instance",
    ),
    scheme: "caseApiKey",
    security: {
      type: "http",
      scheme: "bearer",
      description: "API key generated in the Settings tab.",
    },
  },
} as const satisfies Record<ServiceName, object>;

function server(variable: string, address: string, description: string) {
  return { url: `{${variable}}`, description, variables: { [variable]: { default: address } } };
}

interface Operation extends Pick<
  CallSpec,
  "service" | "id" | "summary" | "parameters" | "open" | "outsideSpecification"
> {
  readonly responses: object;
}

function pathItem(operation: Operation): object {
  const { service, id, summary, parameters, responses, open, outsideSpecification } = operation;
  const { tag, server: ownServer, scheme } = services[service];
  const isOpen = service === "intel" || open === true;
  const get = {
    operationId: id,
    tags: [tag],
    summary,
    ...(outsideSpecification === true && { "x-outside-specification": true }),
    security: [...(isOpen ? [{}] : []), { [scheme]: [] }],
    parameters,
    responses,
  };
  return service === "intel" ? { get } : { servers: [ownServer], get };
}

function callPath(spec: CallSpec): readonly [path: string, item: object] {
  const { answer, schemaName, others } = spec;
  const responses =
    spec.service === "intel"
      ? { 200: json(answer, `${schemaName}Answer`), 400: json("The request failed", "Failure") }
      : { 200: json(answer, schemaName), default: { description: others } };
  return [spec.path, pathItem({ ...spec, responses })];
}

const itemParameter = pathParameter(
  "item",
  "IP address, domain, URL, SHA1 hash, crypto wallet or e-mail address, as one percent-encoded segment",
  "192.0.2.7",
);

function lookupPaths(): (readonly [path: string, item: object])[] {
  return lookupEndpoints.map((endpoint) => {
    const { summary, answer, partial } = endpoints[endpoint];
    const name = `${camelCase(endpoint, "upper")}Answer`;
    const responses = {
      200: json(answer, name),
      400: json(partial === null ? "The request failed" : "The item is invalid", "Failure"),
      ...(partial && {
        503: json("Part of the data is unavailable; the rest is here", `Partial${name}`),
      }),
    };
    const id = camelCase(endpoint);
    const item = { service: "intel", id, summary, parameters: [itemParameter], responses } as const;
    return [`/${endpoint}/{item}`, pathItem(item)];
  });
}

function json(description: string, schema: string) {
  const content = { schema: { $ref: `#/components/schemas/${schema}` } };
  return { description, content: { "application/json": content } };
}

function componentSchemas(): Record<string, unknown> {
  const named: Readonly<Record<string, z.ZodType>> = {
    ...resultSchemas,
    ObservedActivity: observedActivitySchema,
    Failure: failureEnvelopeSchema,
    ...lookupSchemas(),
    ...callSchemas(),
  };
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => mergeNull(jsonSchema),
  });
  for (const schema of Object.values(schemas)) {
    // OpenAPI 3.1 implies the dialect, and the key is the name.
    delete schema.$schema;
    delete schema.$id;
  }
  return schemas;
}

/** Result kinds by schema name in generated documents: `CryptoWalletResult`. */
const resultSchemas: Readonly<Record<string, z.ZodType>> = {
  ...Object.fromEntries(
    Object.entries(results).map(([type, schema]) => [
      `${camelCase(type.toLowerCase(), "upper")}Result`,
      schema,
    ]),
  ),
  PartialIpResult: partialResults.IP,
  PartialDomainResult: partialResults.DOMAIN,
  PartialResult: partialResultSchema,
};

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

function callSchemas(): Record<string, z.ZodType> {
  const schemas: Record<string, z.ZodType> = {};
  for (const { service, schemaName, schema } of Object.values(calls)) {
    schemas[schemaName] = schema;
    if (service === "intel") schemas[`${schemaName}Answer`] = successEnvelope(schema);
  }
  return schemas;
}

/** Merges "a text or null" into one schema with two types, which is easier to read. */
function mergeNull(schema: z.core.JSONSchema.BaseSchema): void {
  const [first, second, ...rest] = schema.anyOf ?? [];
  if (first?.type === undefined || second?.type !== "null" || rest.length > 0) return;
  if (first.$ref !== undefined || Array.isArray(first.type)) return;
  const { type, const: only, ...others } = first;
  delete schema.anyOf;
  Object.assign(schema, others, { type: [type, "null"] });
  if (only !== undefined) schema.enum = [only, null];
}
