import { type LookupEndpoint, lookupEndpoints } from "../core/finding.js";
import { camelCase, endpoints } from "./endpoints.js";
import { snapshotLength, tagIpsLimit } from "./schema/vocabulary.js";

/** Where the threat intelligence endpoints are; the others name their own server. */
export const intelServer = server(
  "intel_url",
  "https://intel.example.com/beta",
  "Base address of the threat intelligence interface; its path prefix /beta is part of it",
);

/** Every endpoint of the interface (interface: Endpoints), with its parameters and answers. */
export function openApiPaths(): object {
  return {
    ...Object.fromEntries(lookupEndpoints.map(lookupPathItem)),
    "/tags": {
      get: {
        operationId: "tags",
        tags: ["intelligence"],
        summary: "All tags",
        "x-outside-specification": true,
        security: noneOrApiKey,
        parameters: [
          {
            name: "includeDescriptions",
            in: "query",
            description: "Whether each tag comes with its description",
            schema: { type: "boolean", default: false },
          },
        ],
        responses: {
          200: json("The tags", "TagListAnswer"),
          400: json("The request failed", "Failure"),
        },
      },
    },
    "/tags/{name}": {
      get: {
        operationId: "tag",
        tags: ["intelligence"],
        summary: "The description of a tag",
        security: noneOrApiKey,
        parameters: [tagParameter],
        responses: {
          200: json("The tag", "TagAnswer"),
          400: json("The request failed", "Failure"),
        },
      },
    },
    "/tags/{name}/ips": {
      get: {
        operationId: "tagIps",
        tags: ["intelligence"],
        summary: "One page of the IP addresses of a tag",
        security: noneOrApiKey,
        parameters: [tagParameter, ...pageParameters],
        responses: {
          200: json("The page", "TagIpsAnswer"),
          400: json("The request failed", "Failure"),
        },
      },
    },
    "/beta/ops/customers": {
      servers: [opsServer],
      get: {
        operationId: "customers",
        tags: ["operations"],
        summary: "One page of the customers",
        security: [{ opsAccessToken: [] }],
        parameters: [
          {
            name: "cursor",
            in: "query",
            description: "`next_cursor` of the page before",
            schema: { type: "string" },
            "x-outside-specification": true,
          },
        ],
        responses: {
          200: json("The page", "CustomersPage"),
          default: bodiless(
            "Two more responses, whose status codes the specification does not show",
          ),
        },
      },
    },
    "/beta/guardian-ops/rep-share/cases/{caseId}": {
      servers: [opsServer],
      get: {
        operationId: "repShareCase",
        tags: ["operations"],
        summary: "One reputation-share case",
        // Whether it needs authentication is not shown (interface: Authentication, 6).
        security: [{}, { opsAccessToken: [] }],
        parameters: [caseParameter],
        responses: {
          200: json("The case", "RepShareCase"),
          default: bodiless(
            "Three more responses, whose status codes the specification does not show",
          ),
        },
      },
    },
    "/api/v1/cases/{caseId}/context": {
      servers: [caseServer],
      get: {
        operationId: "caseContext",
        tags: ["case management"],
        summary: "The context of a case, as payload expressions see it",
        security: [{ caseApiKey: [] }],
        parameters: [caseParameter],
        responses: {
          200: json("The context", "CaseContext"),
          default: bodiless("Authentication Failed, among others that are not shown"),
        },
      },
    },
  };
}

function lookupPathItem(endpoint: LookupEndpoint): [path: string, item: object] {
  const { summary, answer, partial } = endpoints[endpoint];
  const name = `${camelCase(endpoint, "upper")}Answer`;
  const responses = {
    200: json(answer, name),
    400: json(partial === null ? "The request failed" : "The item is invalid", "Failure"),
    ...(partial && {
      503: json("A part of the data is unavailable; the rest is here", `Partial${name}`),
    }),
  };
  const get = {
    operationId: camelCase(endpoint),
    tags: ["intelligence"],
    summary,
    security: noneOrApiKey,
    parameters: [itemParameter],
    responses,
  };
  return [`/${endpoint}/{item}`, { get }];
}

const opsServer = server(
  "base_url",
  "https://ops.example.com",
  "Base address of the operations interface",
);

const caseServer = server(
  "case_url",
  "https://cases.example.com",
  "Address of a customer's case management instance",
);

const noneOrApiKey = [{}, { intelApiKey: [] }];

const itemParameter = pathParameter(
  "item",
  "IP address, domain, URL, SHA1 hash, crypto wallet or e-mail address, as one percent-encoded segment",
  "192.0.2.7",
);

const tagParameter = pathParameter("name", "Tag name, <group>:<name>", "credentials:brute-force");

const caseParameter = pathParameter("caseId", "Identifier of the case", "case-1001");

/** The interface shows the rules of the numeric parameters but not their names (interface: Endpoints, Lookup). */
const pageParameters = [
  {
    name: "offset",
    in: "query",
    description: "Entries to pass over",
    schema: { type: "integer", minimum: 0 },
    "x-outside-specification": "the name; the specification does not show it",
  },
  {
    name: "limit",
    in: "query",
    description: "Most entries returned",
    schema: { type: "integer", minimum: tagIpsLimit.min, maximum: tagIpsLimit.max },
    "x-outside-specification": "the name; the specification does not show it",
  },
  {
    name: "snapshot",
    in: "query",
    description:
      "`snapshot` of an earlier answer for the same tag: the page comes from the same dataset",
    schema: { type: "string", minLength: snapshotLength, maxLength: snapshotLength },
  },
];

function server(variable: string, address: string, description: string) {
  return { url: `{${variable}}`, description, variables: { [variable]: { default: address } } };
}

function pathParameter(name: string, description: string, example: string) {
  return {
    name,
    in: "path",
    required: true,
    description,
    schema: { type: "string", examples: [example] },
  };
}

function json(description: string, schema: string) {
  const content = { schema: { $ref: `#/components/schemas/${schema}` } };
  return { description, content: { "application/json": content } };
}

function bodiless(description: string) {
  return { description };
}
