import { beforeAll, describe, expect, test } from "vitest";
import { openApiDocument } from "../../src/api/openapi.js";
import { lookupEndpoints } from "../../src/core/finding.js";
import { packagePath } from "../../src/core/program.js";
import { loadDataset } from "../../src/service/dataset/dataset.js";
import { sampleAccessToken, sampleCaseApiKey } from "../../src/service/service.js";
import { documentJudge, type DocumentJudge } from "../helpers/document-judge.js";
import { ask, bearing, runningService } from "../unit/service/running-service.js";

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { schema: { $ref: string } }>> }>
  >;
}

const { paths } = JSON.parse(JSON.stringify(openApiDocument())) as {
  paths: Readonly<Record<string, { readonly get: Operation }>>;
};
const dataset = await loadDataset(packagePath("samples/dataset"));
const items = [...dataset.items.keys()].map(encodeURIComponent);
const absent = ["45.33.32.156", "10.0.0.1", "absent.example.com", "nobody@example.com"];
const tags = [...dataset.tags.keys()].map(encodeURIComponent);

/** Requests to each path of the document: values of its parameters, and its query. */
const requests: Readonly<Record<string, readonly (readonly [parameter: string, query: string])[]>> =
  {
    "/query/{item}": [...items, ...items, ...absent, "setup.exe", "%20"].map((item) => [item, ""]),
    ...Object.fromEntries(
      lookupEndpoints
        .filter((endpoint) => endpoint !== "query")
        .map((endpoint) => [
          `/${endpoint}/{item}`,
          [...items, ...absent, "setup.exe"].map((item) => [item, ""] as const),
        ]),
    ),
    "/tags": [
      ["", ""],
      ["", "?includeDescriptions=true"],
    ],
    "/tags/{name}": [...tags, "no%3Asuch"].map((tag) => [tag, ""]),
    "/tags/{name}/ips": [
      ...tags.map((tag) => [tag, ""] as const),
      [tags[0] ?? "", "?offset=5&limit=3"],
      [tags[0] ?? "", "?offset=-1"],
      [tags[0] ?? "", "?limit=10001"],
      [tags[0] ?? "", "?snapshot=short"],
      ["no%3Asuch", ""],
    ],
    "/beta/ops/customers": [
      ["", ""],
      ["", "?cursor=nonsense"],
    ],
    "/beta/guardian-ops/rep-share/cases/{caseId}": [...dataset.cases.keys(), "no"].map((id) => [
      id,
      "",
    ]),
    "/api/v1/cases/{caseId}/context": [...dataset.contexts.keys(), "no"].map((id) => [id, ""]),
  };

let judge: DocumentJudge;
beforeAll(async () => {
  judge = await documentJudge();
});

test("every path of the document is requested", () => {
  expect(Object.keys(requests)).toEqual(Object.keys(paths));
});

describe.each(Object.keys(paths))("the service's answer at %s", (path) => {
  test("matches the document, whatever is requested", async () => {
    const service = await runningService({ dataset });
    const token = path.startsWith("/api/") ? sampleCaseApiKey : sampleAccessToken;
    const base = path.startsWith("/api/") || path.startsWith("/beta/") ? "" : "/beta";
    const faults: string[] = [];
    for (const [parameter, query] of requests[path] ?? []) {
      const url = base + path.replace(/\{\w+\}/, parameter) + query;
      const { status, headers, body } = await ask(service, url, bearing(token));
      const fault = await departure(path, status, headers.get("content-type"), body);
      if (fault !== null) faults.push(`${url}: ${fault}`);
    }
    expect(faults).toEqual([]);
  });
});

/** How an answer differs from the document, or null. */
async function departure(
  path: string,
  status: number,
  type: string | null,
  body: string,
): Promise<string | null> {
  const responses = paths[path]?.get.responses ?? {};
  const response = responses[String(status)] ?? responses["default"];
  if (!response) return `status ${status} is not in the document`;
  const reference = response.content?.["application/json"]?.schema.$ref;
  if (reference === undefined) return body === "" ? null : "a body that the document does not have";
  if (type?.split(";")[0] !== "application/json") return `content type ${type}`;
  return judge(reference.slice(reference.lastIndexOf("/") + 1), JSON.parse(body));
}
