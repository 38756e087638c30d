import { describe, expect, test } from "vitest";
import { packagePath } from "../../src/core/program.js";
import { loadDataset } from "../../src/service/dataset/dataset.js";
import { sampleAccessToken, sampleCaseApiKey, startService } from "../../src/service/service.js";
import { ask, askJson, bearing, runningService } from "../unit/service/running-service.js";

/**
 * The tables of the specification, written by hand and independent of the schemas: the answers of
 * the embedded service are compared with them member by member.
 */

type Check = (value: unknown) => boolean;
type Members = Readonly<Record<string, Check>>;

const text: Check = (value) => typeof value === "string";
const flag: Check = (value) => typeof value === "boolean";
const count: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const dateTime: Check = (value) =>
  typeof value === "string" &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value);
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
/** Has exactly these members. */
const exactly =
  (members: Members): Check =>
  (value) =>
    faultsOf(value, members).length === 0;

/** Members that are wrong, missing or superfluous. */
function faultsOf(value: unknown, members: Members): string[] {
  if (typeof value !== "object" || value === null) return ["is no object"];
  const found = value as Readonly<Record<string, unknown>>;
  const extra = Object.keys(found).filter((name) => !(name in members));
  const wrong = Object.entries(members)
    .filter(([name, check]) => !(name in found) || !check(found[name]))
    .map(([name]) => `${name}: ${JSON.stringify(found[name])}`);
  return [...extra.map((name) => `${name} is not documented`), ...wrong];
}

const blocklist = oneOf("ACTIVE", "ALLOWLIST", "INFORMATIONAL", "NOT_LISTED", "PASSIVE");
const intent = oneOf("malicious", "suspicious", "unknown", "none");
const seen = { firstSeen: dateTime, lastSeen: dateTime };
const observedActivity = exactly({
  honeypotInteractions: exactly({
    firstSeen: orNull(dateTime),
    lastSeen: orNull(dateTime),
    observations: listOf(exactly({ ...seen, service: text, type: text })),
  }),
  spamtrapInteractions: exactly({
    firstSeen: orNull(dateTime),
    lastSeen: orNull(dateTime),
    observations: listOf(exactly({ ...seen, type: text })),
  }),
});

function brief(type: string): Members {
  return { item: text, serviceMailBlocklist: orNull(blocklist), type: oneOf(type) };
}

const common: Members = {
  tags: listOf(text),
  firstSeen: orNull(dateTime),
  lastSeen: orNull(dateTime),
  intent: orNull(intent),
};

const results: Readonly<Record<string, Members>> = {
  IP: {
    ...brief("IP"),
    ...common,
    bogon: oneOf(false),
    reverseDns: exactly({ current: orNull(listOf(exactly({ entry: text }))) }),
    abuseContact: exactly({
      email: orNull((value) => text(value) && /^[^@\s]+@[^@\s]+$/.test(String(value))),
      status: oneOf(
        "UNKNOWN",
        "INVALID",
        "RESOLVE_FAILED",
        "CONNECT_FAILED",
        "RECIPIENT_FAILED",
        "WORKING",
      ),
      lastVerification: orNull(dateTime),
    }),
    asn: exactly({
      countryCode: orNull((value) => /^[A-Z]{2}$/.test(String(value))),
      asn: orNull((value) => /^AS\d+$/.test(String(value))),
      name: orNull(text),
    }),
    observedActivity,
  },
  IP_BOGON: { item: text, type: oneOf("IP_BOGON"), bogon: oneOf(true) },
  DOMAIN: { ...brief("DOMAIN"), ...common, observedActivity: orNull(observedActivity) },
  URL: brief("URL"),
  SHA1: brief("SHA1"),
  CRYPTO_WALLET: brief("CRYPTO_WALLET"),
  EMAIL: brief("EMAIL"),
};

/** Members of a partial result that may not be null. */
const never: ReadonlySet<string> = new Set(["item", "type"]);

function partially(members: Members): Members {
  return Object.fromEntries(
    Object.entries(members).map(([name, check]) => [name, never.has(name) ? check : orNull(check)]),
  );
}

const quickCheck: Members = {
  item: text,
  serviceMailBlocklist: blocklist,
  type: oneOf(...Object.keys(results)),
  bogon: flag,
  intent,
  activity: flag,
};

interface Enveloped {
  readonly status: string;
  readonly statusCode: number;
  readonly result: { readonly type: string; readonly item: string };
  readonly errors: unknown;
}

const dataset = await loadDataset(packagePath("samples/dataset"));
const absent = [
  "45.33.32.156",
  "10.0.0.1",
  "absent.example.com",
  "http://absent.example.com/",
  "0123456789abcdef0123456789abcdef01234567",
  "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
  "absent@example.com",
];
const items = [...dataset.items.keys(), ...absent];

interface Found {
  readonly httpStatus: number;
  readonly body: Enveloped;
}

/** Every answer to each item, each requested three times, with its HTTP status. */
async function answersTo(endpoint: "query" | "quick-check", partialRate: number): Promise<Found[]> {
  const service = await startService({ dataset, partialRate });
  const found: Found[] = [];
  for (const item of [...items, ...items, ...items]) {
    const { status, body } = await ask(service, `/beta/${endpoint}/${encodeURIComponent(item)}`);
    found.push({ httpStatus: status, body: JSON.parse(body) as Enveloped });
  }
  await service.close();
  return found;
}

const queries = await answersTo("query", 0);
const partialQueries = await answersTo("query", 1);
const quickChecks = await answersTo("quick-check", 0);

describe("envelope", () => {
  test("has the status for its HTTP status, and an equal statusCode", () => {
    const kinds = [...queries, ...quickChecks].map(({ httpStatus, body }) =>
      [httpStatus, body.status, body.statusCode].join(" "),
    );
    expect([...new Set(kinds)].sort()).toEqual([
      "200 success 200",
      "400 failure 400",
      "503 partial_success 503",
    ]);
  });

  test("has a result on success, errors on failure and both on partial success", () => {
    const shapes: Readonly<Record<number, Members>> = {
      200: { status: text, statusCode: count, result: Boolean },
      400: { status: text, statusCode: count, errors: exactly({ $: text }) },
      503: { status: text, statusCode: count, result: Boolean, errors: exactly({}) },
    };
    const faults = [...queries, ...quickChecks].flatMap(({ httpStatus, body }) =>
      faultsOf(body, shapes[httpStatus] ?? {}),
    );
    expect(faults).toEqual([]);
  });
});

describe("query result", () => {
  test.each(Object.keys(results))("of type %s has exactly its members", (type) => {
    const found = queries
      .filter(({ httpStatus, body }) => httpStatus === 200 && body.result.type === type)
      .map(({ body }) => body.result);
    const faults = found.flatMap((result) =>
      faultsOf(result, results[type] ?? {}).map((fault) => `${result.item}: ${fault}`),
    );
    expect([found.length > 0, faults]).toEqual([true, []]);
  });

  test.each(["IP", "DOMAIN", "URL", "SHA1", "CRYPTO_WALLET", "EMAIL"])(
    "of type %s may have null members when it is partial, but never item or type",
    (type) => {
      const found = partialQueries
        .filter(({ httpStatus, body }) => httpStatus === 503 && body.result.type === type)
        .map(({ body }) => body.result);
      const members = partially(results[type] ?? {});
      const faults = found.flatMap((result) => faultsOf(result, members));
      expect([found.length > 0, faults]).toEqual([true, []]);
    },
  );

  test("of a bogon is never partial", () => {
    const bogons = partialQueries.filter(({ body }) => body.result?.type === "IP_BOGON");
    expect([...new Set(bogons.map(({ httpStatus }) => httpStatus))]).toEqual([200]);
  });
});

test("a quick check has exactly its members, none of them null", () => {
  const found = quickChecks
    .filter(({ httpStatus }) => httpStatus === 200)
    .map(({ body }) => body.result);
  const types = new Set(found.map(({ type }) => type));
  expect([types.size, found.flatMap((result) => faultsOf(result, quickCheck))]).toEqual([
    Object.keys(results).length,
    [],
  ]);
});

test("a tag has its members, with references and timeline", async () => {
  const service = await runningService({ dataset });
  const members: Members = {
    name: (value) => /^[^:]+:.+$/.test(String(value)),
    intent,
    category: oneOf("activity", "tool", "actor", "none"),
    description: text,
    references: listOf(exactly({ url: text, description: text })),
    timeline: listOf(exactly({ date: text, action: text, description: text })),
  };
  const faults: string[] = [];
  for (const name of dataset.tags.keys()) {
    const path = `/beta/tags/${encodeURIComponent(name)}`;
    faults.push(...faultsOf((await askJson<Enveloped>(service, path)).result, members));
  }
  expect(faults).toEqual([]);
});

test("a tag IP list has its members, with a snapshot of exactly 24 characters", async () => {
  const service = await runningService({ dataset });
  const members: Members = {
    tag: text,
    entries: listOf(text),
    lastUpdate: text,
    total: count,
    snapshot: (value) => text(value) && String(value).length === 24,
  };
  const faults: string[] = [];
  for (const name of dataset.tags.keys()) {
    const path = `/beta/tags/${encodeURIComponent(name)}/ips`;
    faults.push(...faultsOf((await askJson<Enveloped>(service, path)).result, members));
  }
  expect(faults).toEqual([]);
});

test("a page of customers has items and next_cursor, outside any envelope", async () => {
  const service = await runningService({ dataset });
  const page = await askJson(service, "/beta/ops/customers", bearing(sampleAccessToken));
  const customer = exactly({ customer_id: text, tenant_id: text });
  expect(faultsOf(page, { items: listOf(customer), next_cursor: text })).toEqual([]);
});

test("a reputation-share case has its members, outside any envelope, in each of its four states", async () => {
  const service = await runningService({ dataset });
  const members: Members = {
    id: text,
    customer_id: text,
    tenant_id: text,
    event_count: count,
    event_types: listOf(text),
    event_ips: listOf(text),
    first_event_date: dateTime,
    last_event_date: dateTime,
    state: oneOf("NEW", "IN_PROGRESS", "RESOLVED", "CLOSED"),
  };
  const states = new Set<unknown>();
  const faults: string[] = [];
  for (const id of dataset.cases.keys()) {
    const found = await askJson<{ state: string }>(
      service,
      `/beta/guardian-ops/rep-share/cases/${id}`,
    );
    states.add(found.state);
    faults.push(...faultsOf(found, members));
  }
  expect([states.size, faults]).toEqual([4, []]);
});

test("a case context has the subscriber's data at s.resolver_data", async () => {
  const service = await runningService({ dataset });
  for (const id of dataset.contexts.keys()) {
    const path = `/api/v1/cases/${id}/context`;
    const context = await askJson<{ s: object }>(service, path, bearing(sampleCaseApiKey));
    expect(context.s).toHaveProperty("resolver_data");
  }
});

test("a webhook has name, endpoint, method, path and payload", async () => {
  const service = await runningService({ dataset });
  const webhooks = await askJson<{ path?: string }[]>(service, "/_local/webhooks");
  const members: Members = {
    name: text,
    endpoint: text,
    method: oneOf("POST", "PUT", "PATCH"),
    path: text,
    payload: () => true,
  };
  const faults = webhooks.flatMap((webhook) => faultsOf({ path: "", ...webhook }, members));
  expect([webhooks.length > 0, faults]).toEqual([true, []]);
});
