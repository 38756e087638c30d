import { describe, expect, test } from "vitest";
import { z } from "zod";
import { calls } from "../../src/client/api/calls.js";
import { lookupEndpoints } from "../../src/core/finding.js";
import { loadDataset, sampleDataset } from "../../src/service/dataset.js";
import { sampleAccessToken, sampleCaseApiKey, type Service } from "../../src/service/service.js";
import { ask, askJson, bearing, runningService } from "../service/running-service.js";

/**
 * The tables of the specification, written by hand and independent of the schemas: the answers of
 * the embedded service are compared with them member by member.
 */

const { string: text, boolean: flag, iso, literal, array, strictObject, enum: oneOf } = z;
const count = z.int().min(0);
const dateTime = iso.datetime({ offset: true });
type Members = z.ZodRawShape;

/** What is wrong with answers that are to have exactly these members. */
function faultsOf(answers: readonly unknown[], members: Members): readonly string[] {
  const { error } = array(strictObject(members)).min(1).safeParse(answers);
  return error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`) ?? [];
}

const blocklist = oneOf(["ACTIVE", "ALLOWLIST", "INFORMATIONAL", "NOT_LISTED", "PASSIVE"]);
const intent = oneOf(["malicious", "suspicious", "unknown", "none"]);
const contactStatuses =
  "UNKNOWN INVALID RESOLVE_FAILED CONNECT_FAILED RECIPIENT_FAILED WORKING".split(" ");
const seen = { firstSeen: dateTime, lastSeen: dateTime };
const mayBeSeen = { firstSeen: dateTime.nullable(), lastSeen: dateTime.nullable() };
const observedActivity = strictObject({
  honeypotInteractions: strictObject({
    ...mayBeSeen,
    observations: array(strictObject({ ...seen, service: text(), type: text() })),
  }),
  spamtrapInteractions: strictObject({
    ...mayBeSeen,
    observations: array(strictObject({ ...seen, type: text() })),
  }),
});

function brief(type: string): Members {
  return { item: text(), serviceMailBlocklist: blocklist.nullable(), type: literal(type) };
}

const common: Members = { tags: array(text()), ...mayBeSeen, intent: intent.nullable() };

const results: Readonly<Record<string, Members>> = {
  IP: {
    ...brief("IP"),
    ...common,
    bogon: literal(false),
    reverseDns: strictObject({ current: array(strictObject({ entry: text() })).nullable() }),
    abuseContact: strictObject({
      email: text()
        .regex(/^[^@\s]+@[^@\s]+$/)
        .nullable(),
      status: oneOf(contactStatuses),
      lastVerification: dateTime.nullable(),
    }),
    asn: strictObject({
      countryCode: text()
        .regex(/^[A-Z]{2}$/)
        .nullable(),
      asn: text()
        .regex(/^AS\d+$/)
        .nullable(),
      name: text().nullable(),
    }),
    observedActivity,
  },
  IP_BOGON: { item: text(), type: literal("IP_BOGON"), bogon: literal(true) },
  DOMAIN: { ...brief("DOMAIN"), ...common, observedActivity: observedActivity.nullable() },
  URL: brief("URL"),
  SHA1: brief("SHA1"),
  CRYPTO_WALLET: brief("CRYPTO_WALLET"),
  EMAIL: brief("EMAIL"),
};

/** All but these may be null in a partial result. */
function partially({ item, type, ...members }: Members): Members {
  const others = Object.entries(members).map(([name, check]) => [name, z.nullable(check)]);
  return { item: item!, type: type!, ...Object.fromEntries(others) };
}

const quickCheck: Members = {
  item: text(),
  serviceMailBlocklist: blocklist,
  type: oneOf(Object.keys(results)),
  bogon: flag(),
  intent,
  activity: flag(),
};

/** Members of what the other endpoints answer. */
const others: Readonly<Record<string, Members>> = {
  "/tags/{name}": {
    name: text().regex(/^[^:]+:.+$/),
    intent,
    category: oneOf(["activity", "tool", "actor", "none"]),
    description: text(),
    references: array(strictObject({ url: text(), description: text() })),
    timeline: array(strictObject({ date: text(), action: text(), description: text() })),
  },
  "/tags/{name}/ips": {
    tag: text(),
    entries: array(text()),
    lastUpdate: text(),
    total: count,
    snapshot: text().length(24),
  },
  "/beta/ops/customers": {
    items: array(strictObject({ customer_id: text(), tenant_id: text() })),
    next_cursor: text(),
  },
  "/beta/guardian-ops/rep-share/cases/{caseId}": {
    id: text(),
    customer_id: text(),
    tenant_id: text(),
    event_count: count,
    event_types: array(text()),
    event_ips: array(text()),
    first_event_date: dateTime,
    last_event_date: dateTime,
    state: oneOf(["NEW", "IN_PROGRESS", "RESOLVED", "CLOSED"]),
  },
};

const dataset = await loadDataset(sampleDataset);
const absent = [
  "45.33.32.156",
  "10.0.0.1",
  "absent.example.com",
  "http://absent.example.com/",
  "0123456789abcdef0123456789abcdef01234567",
  "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
  "absent@example.com",
].map(encodeURIComponent);
const items = [...dataset.items.keys()].map(encodeURIComponent);
const tags = [...dataset.tags.keys()].map(encodeURIComponent);

/** Values of the parameter of each path of the interface. */
const parameters: Readonly<Record<string, readonly string[]>> = {
  // Often enough that items which are partial at first are answered in full.
  "/query/{item}": [...items, ...items, ...items, ...absent, "setup.exe", "%20"],
  "/quick-check/{item}": [...items, ...absent, "setup.exe"],
  "/tags": [""],
  "/tags/{name}": tags,
  "/tags/{name}/ips": tags,
  "/beta/ops/customers": [""],
  "/beta/guardian-ops/rep-share/cases/{caseId}": [...dataset.cases.keys()],
  "/api/v1/cases/{caseId}/context": [...dataset.contexts.keys()],
};

interface Answer {
  readonly status: number;
  readonly body: Enveloped;
}

interface Enveloped {
  readonly status: string;
  readonly statusCode: number;
  readonly result: { readonly type: string; readonly item: string };
}

/** The service's answer for each of the values. */
async function answersAt(path: string, service: Service): Promise<Answer[]> {
  const token = path.startsWith("/api/") ? sampleCaseApiKey : sampleAccessToken;
  const found: Answer[] = [];
  for (const parameter of parameters[path] ?? []) {
    const url = baseOf(path) + path.replace(/\{\w+\}/, parameter);
    const { status, body } = await ask(service, url, bearing(token));
    found.push({ status, body: JSON.parse(body) as Enveloped });
  }
  return found;
}

function baseOf(path: string): string {
  return path.startsWith("/api/") || path.startsWith("/beta/") ? "" : "/beta";
}

const service = await runningService({ dataset });
const partialService = await runningService({ dataset, partialRate: 1 });

const answers: Record<string, readonly Answer[]> = {};
for (const path of Object.keys(parameters)) answers[path] = await answersAt(path, service);
const queries = answers["/query/{item}"]!;
const quickChecks = answers["/quick-check/{item}"]!;
const partialQueries = await answersAt("/query/{item}", partialService);

/** What the answers with a status say, without the envelope. */
function resultsOf(found: readonly Answer[], status: number): Enveloped["result"][] {
  return found.flatMap((answer) => (answer.status === status ? [answer.body.result] : []));
}

test("every path of the interface is requested", () => {
  expect(Object.keys(parameters)).toEqual([
    ...lookupEndpoints.map((endpoint) => `/${endpoint}/{item}`),
    ...Object.values(calls).map(({ path }) => path),
  ]);
});

describe("envelope", () => {
  test("has the status for its HTTP status, and an equal statusCode", () => {
    const kinds = [...queries, ...quickChecks].map(({ status, body }) =>
      [status, body.status, body.statusCode].join(" "),
    );
    expect([...new Set(kinds)].sort()).toEqual([
      "200 success 200",
      "400 failure 400",
      "503 partial_success 503",
    ]);
  });

  test("has a result on success, errors on failure and both on partial success", () => {
    const envelope = { status: text(), statusCode: count };
    const result = z.looseObject({});
    const shapes: Readonly<Record<number, Members>> = {
      200: { ...envelope, result },
      400: { ...envelope, errors: strictObject({ $: text() }) },
      503: { ...envelope, result, errors: strictObject({}) },
    };
    for (const { status, body } of [...queries, ...quickChecks]) {
      expect(faultsOf([body], shapes[status] ?? {})).toEqual([]);
    }
  });
});

describe("query result", () => {
  const ofType = (found: readonly Enveloped["result"][], type: string) =>
    found.filter((result) => result.type === type);

  test.each(Object.keys(results))("of type %s has exactly its members", (type) => {
    expect(faultsOf(ofType(resultsOf(queries, 200), type), results[type]!)).toEqual([]);
  });

  test.each(["IP", "DOMAIN", "URL", "SHA1", "CRYPTO_WALLET", "EMAIL"])(
    "of type %s may have null members when it is partial, but never item or type",
    (type) => {
      const found = ofType(resultsOf(partialQueries, 503), type);
      expect(faultsOf(found, partially(results[type]!))).toEqual([]);
    },
  );
});

test("a quick check has exactly its members, none of them null", () => {
  const found = resultsOf(quickChecks, 200);
  expect(new Set(found.map(({ type }) => type)).size).toBe(Object.keys(results).length);
  expect(faultsOf(found, quickCheck)).toEqual([]);
});

test.each(Object.keys(others))("what %s answers has exactly its members", (path) => {
  const isEnveloped = baseOf(path) !== "";
  const found = answers[path]!.map(({ body }) => (isEnveloped ? body.result : body));
  expect(faultsOf(found, others[path]!)).toEqual([]);
});

test("a case context has the subscriber's data at s.resolver_data", () => {
  for (const { body } of answers["/api/v1/cases/{caseId}/context"]!) {
    expect(body).toHaveProperty("s.resolver_data");
  }
});

test("a webhook has name, endpoint, method, path and payload", async () => {
  const webhooks = await askJson<unknown[]>(service, "/_local/webhooks");
  const members: Members = {
    name: text(),
    endpoint: text(),
    method: oneOf(["POST", "PUT", "PATCH"]),
    path: text().optional(),
    payload: z.unknown(),
  };
  expect(faultsOf(webhooks, members)).toEqual([]);
});
