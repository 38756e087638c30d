import { Pool } from "undici";
import type { JudgeContext } from "../../../src/client/api/judge.js";
import { describeService } from "../../../src/client/api/service-description.js";
import type { Answer, ResponseHeaders } from "../../../src/client/api/types.js";
import { atEnd } from "../../helpers/at-end.js";
import { ManualClock } from "../../helpers/manual-clock.js";
import { reply, startScriptedServer, type Step } from "../../helpers/scripted-server.js";

/** A context for judging, at 2024-01-01T00:00:00Z and without an API key. */
export function judgeContext(): JudgeContext {
  return { service: describeService("intel", false), clock: new ManualClock() };
}

/** A server that answers by a script, and options of a client of it. */
export async function serving(script: Parameters<typeof startScriptedServer>[0]) {
  const server = await startScriptedServer(script);
  const dispatcher = new Pool(server.url);
  atEnd(() => dispatcher.destroy());
  return { server, options: { baseUrl: server.url, dispatcher, clock: new ManualClock() } };
}

/** An answer; an object becomes JSON. */
export function answer(status: number, body: unknown, headers: ResponseHeaders = {}): Answer {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { status, headers, body: Buffer.isBuffer(body) ? body : Buffer.from(text) };
}

export function success(result: unknown) {
  return { status: "success", statusCode: 200, result };
}

export function partialSuccess(result: unknown) {
  return { status: "partial_success", statusCode: 503, result, errors: {} };
}

export function failure(message: string) {
  return { status: "failure", statusCode: 400, errors: { $: message } };
}

const seen = { firstSeen: "2023-01-02T03:04:05Z", lastSeen: "2023-02-03T04:05:06Z" };

/** Every specified member of an IP result, with a value. */
export function ipResult() {
  return {
    item: "192.0.2.7",
    serviceMailBlocklist: "ACTIVE",
    type: "IP",
    bogon: false,
    tags: ["credentials:brute-force", "scanner:web"],
    firstSeen: "2023-01-02T03:04:05Z",
    lastSeen: "2023-02-03T04:05:06.789Z",
    intent: "malicious",
    reverseDns: { current: [{ entry: "a.example.com" }, { entry: "b.example.com" }] },
    abuseContact: {
      email: "abuse@example.net",
      status: "WORKING",
      lastVerification: "2023-03-04T05:06:07+02:00",
    },
    asn: { countryCode: "DE", asn: "AS64496", name: "Example Network" },
    observedActivity: observedActivity(),
  };
}

/** The answer to a query for the address at the end of a path. */
export function replyFor(
  { path }: { readonly path: string },
  headers: Readonly<Record<string, string>> = {},
): Step {
  const item = decodeURIComponent(path.slice(path.lastIndexOf("/") + 1));
  return reply(200, success({ ...ipResult(), item }), headers);
}

export function observedActivity() {
  const times = { firstSeen: "2023-01-12T03:04:05Z", lastSeen: "2023-01-23T04:05:06Z" };
  const interaction = { ...times, service: "ssh", type: "login" };
  return {
    honeypotInteractions: { ...times, observations: [interaction] },
    spamtrapInteractions: { ...times, observations: [{ ...times, type: "bulk" }] },
  };
}

export function domainResult() {
  return {
    item: "example.com",
    serviceMailBlocklist: "PASSIVE",
    type: "DOMAIN",
    tags: ["spam:bulk"],
    ...seen,
    intent: "suspicious",
    observedActivity: observedActivity(),
  };
}

export function bogonResult() {
  return { item: "10.0.0.1", type: "IP_BOGON", bogon: true };
}

/** A URL, SHA1, CRYPTO_WALLET or EMAIL result: their members are the same. */
export function plainResult(type: string) {
  return { item: "an item", serviceMailBlocklist: "NOT_LISTED", type };
}

export function quickCheckResult() {
  return {
    item: "192.0.2.7",
    serviceMailBlocklist: "ACTIVE",
    type: "IP",
    bogon: false,
    intent: "malicious",
    activity: true,
  };
}

/** A copy without one member, given by its dotted path. */
export function without(value: object, path: string): object {
  const copy = structuredClone(value) as Record<string, unknown>;
  const steps = path.split(".");
  const last = steps.pop() ?? "";
  let at = copy;
  for (const step of steps) at = at[step] as Record<string, unknown>;
  delete at[last];
  return copy;
}

/** Collects an async iterable. */
export async function collected<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of iterable) all.push(one);
  return all;
}
