import { Pool } from "undici";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { CaseClient } from "../../src/api/case-client.js";
import type { ClientOptions } from "../../src/api/caller.js";
import { IntelClient } from "../../src/api/intel-client.js";
import { OpsClient } from "../../src/api/ops-client.js";
import { ServiceError } from "../../src/api/status-fault.js";
import type { Finding } from "../../src/core/finding.js";
import { documentJudge, type DocumentJudge } from "../helpers/document-judge.js";
import { ManualClock } from "../helpers/manual-clock.js";
import { raw, startScriptedServer } from "../helpers/scripted-server.js";
import { ask, bearing, runningService } from "../unit/service/running-service.js";

/** A kind of answer: where the service gives it, and how the client reads it. */
interface Sample {
  /** Name of the document's schema. */
  readonly schema: string;
  readonly path: string;
  readonly token?: string;
  /** True if the client accepts the answer. */
  readonly takes: (options: ClientOptions) => Promise<boolean>;
}

const signal = new AbortController().signal;

function lookup(endpoint: "query" | "quickCheck", status: Finding["status"]): Sample["takes"] {
  return async (options) => {
    const client = new IntelClient(options);
    const finding = await client[endpoint]({ kind: "ip", value: "192.0.2.1" }, { signal });
    // An answer may be valid but not about the item; that is tested elsewhere.
    return finding.status === status || finding.error?.code === "response_mismatch";
  };
}

function call(act: (options: ClientOptions) => Promise<unknown>): Sample["takes"] {
  return async (options) => {
    try {
      await act(options);
      return true;
    } catch (error) {
      if (error instanceof ServiceError) return false;
      throw error;
    }
  };
}

const samples: readonly Sample[] = [
  { schema: "QueryAnswer", path: "/beta/query/192.0.2.1", takes: lookup("query", "complete") },
  { schema: "QueryAnswer", path: "/beta/query/10.0.0.1", takes: lookup("query", "complete") },
  { schema: "QueryAnswer", path: "/beta/query/install.sh", takes: lookup("query", "complete") },
  {
    schema: "QueryAnswer",
    path: "/beta/query/a%40example.com",
    takes: lookup("query", "complete"),
  },
  {
    schema: "PartialQueryAnswer",
    path: "/beta/query/203.0.113.50",
    takes: lookup("query", "partial"),
  },
  {
    schema: "QuickCheckAnswer",
    path: "/beta/quick-check/192.0.2.1",
    takes: lookup("quickCheck", "complete"),
  },
  { schema: "Failure", path: "/beta/query/setup.exe", takes: lookup("query", "invalid") },
  {
    schema: "TagListAnswer",
    path: "/beta/tags?includeDescriptions=true",
    takes: call((options) => new IntelClient(options).tags()),
  },
  {
    schema: "TagAnswer",
    path: "/beta/tags/credentials%3Abrute-force",
    takes: call((options) => new IntelClient(options).tag("a:b")),
  },
  {
    schema: "TagIpsAnswer",
    path: "/beta/tags/credentials%3Abrute-force/ips?limit=2",
    takes: call((options) => new IntelClient(options).tagIps("a:b")),
  },
  {
    schema: "CustomersPage",
    path: "/beta/ops/customers",
    token: "sample-access-token",
    takes: call(async (options) => {
      try {
        for await (const customer of new OpsClient(options).customers()) return customer;
      } catch (error) {
        // The client accepted an empty page, and its next request got the same page again.
        if (!(error instanceof ServiceError && error.code === "cursor_repeated")) throw error;
      }
      return null;
    }),
  },
  {
    schema: "RepShareCase",
    path: "/beta/guardian-ops/rep-share/cases/case-2001",
    takes: call((options) => new OpsClient(options).repShareCase("c")),
  },
  {
    schema: "CaseContext",
    path: "/api/v1/cases/case-2001/context",
    token: "sample-case-api-key",
    takes: call((options) => new CaseClient(options).context("c")),
  },
];

let judge: DocumentJudge;
beforeAll(async () => {
  judge = await documentJudge({ formats: false });
});

describe.each(samples)("$schema, as for $path", ({ schema, path, token, takes }) => {
  test("is accepted or refused by the client as the document says, whichever member is broken", async () => {
    const service = await runningService();
    const answer = await ask(service, path, token === undefined ? {} : bearing(token));
    let body = "";
    const server = await startScriptedServer(() => {
      const length = Buffer.byteLength(body);
      // In one write: a second one would wait for the acknowledgement of the first (RFC 896).
      return raw(`HTTP/1.1 ${answer.status}\r\ncontent-length: ${length}\r\n\r\n${body}`, false);
    });
    const dispatcher = new Pool(server.url);
    onTestFinished(async () => {
      await dispatcher.destroy();
      await server.close();
    });
    const options = { baseUrl: server.url, dispatcher, clock: new ManualClock() };

    const disagreements: string[] = [];
    let refused = 0;
    for (const { what, value } of variants(JSON.parse(answer.body))) {
      // The client passes unknown kinds of results through; the document lists the known ones.
      if (what === 'result.type = "text"') continue;
      body = JSON.stringify(value);
      const fault = await judge(schema, value);
      const taken = await takes(options);
      if (fault !== null) refused++;
      if (taken !== (fault === null)) disagreements.push(`${what}: ${fault ?? "no fault"}`);
    }
    expect(disagreements).toEqual([]);
    expect(refused).toBeGreaterThan(0);
  });
});

interface Variant {
  readonly what: string;
  readonly value: unknown;
}

const wrong: readonly unknown[] = [null, -1.5, "text", true, [], {}];

/** The value itself, and copies with one member removed or of another type. */
function* variants(value: unknown): Generator<Variant> {
  yield { what: "as it is", value };
  for (const path of pathsOf(value)) {
    yield { what: `${path.join(".")} left out`, value: changed(value, path) };
    for (const other of wrong) {
      yield {
        what: `${path.join(".")} = ${JSON.stringify(other)}`,
        value: changed(value, path, { other }),
      };
    }
  }
}

function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [];
  // Elements of a list are of one kind: the first represents all.
  const steps = Array.isArray(value) ? Object.entries(value).slice(0, 1) : Object.entries(value);
  return steps.flatMap(([step, inner]) => {
    const deeper = path.concat(step);
    const found: (readonly string[])[] = [deeper];
    return found.concat(pathsOf(inner, deeper));
  });
}

function changed(value: unknown, path: readonly string[], put?: { other: unknown }): unknown {
  const copy = structuredClone(value);
  let at = copy as Record<string, unknown>;
  for (const step of path.slice(0, -1)) at = at[step] as Record<string, unknown>;
  const last = path.at(-1) ?? "";
  if (put) at[last] = put.other;
  else if (Array.isArray(at)) at.splice(Number(last), 1);
  else delete at[last];
  return copy;
}
