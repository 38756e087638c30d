import { expect } from "vitest";
import { startService, type Service, type ServiceOptions } from "../../src/service/service.js";
import { atEnd } from "../helpers/at-end.js";

/** Starts the embedded service on a free port for the duration of the test or file. */
export async function runningService(options: ServiceOptions = {}): Promise<Service> {
  const service = await startService(options);
  atEnd(() => service.close());
  return service;
}

/** An answer as received. */
export interface Seen {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Sends one request; `path` is relative to the service's origin. */
export async function ask(service: Service, path: string, init: RequestInit = {}): Promise<Seen> {
  const response = await fetch(service.opsUrl + path, init);
  return { status: response.status, headers: response.headers, body: await response.text() };
}

/** Requests JSON and returns it without validation. */
export async function askJson<T = unknown>(
  service: Service,
  path: string,
  init: RequestInit = {},
): Promise<T> {
  return JSON.parse((await ask(service, path, init)).body) as T;
}

/** The result in the envelope of an answer; `interface-fields.test.ts` checks them all. */
export async function resultOf<T>(service: Service, path: string): Promise<T> {
  return (await askJson<{ readonly result: T }>(service, path)).result;
}

/** Why the service refuses a request with 400. */
export async function refusalOf(service: Service, path: string): Promise<string> {
  const { status, body } = await ask(service, path);
  const { errors, ...envelope } = JSON.parse(body) as { readonly errors: { readonly $: string } };
  expect([status, envelope]).toEqual([400, { status: "failure", statusCode: 400 }]);
  return errors.$;
}

/** Like `ask`, but a broken connection counts as an answer. */
export async function askBravely(service: Service, path: string): Promise<Seen | "reset"> {
  try {
    return await ask(service, path);
  } catch {
    return "reset";
  }
}

export function sending(method: string, value: unknown): RequestInit {
  const headers = { "content-type": "application/json" };
  return { method, headers, body: JSON.stringify(value) };
}

export function bearing(token: string): RequestInit {
  return { headers: { authorization: `Bearer ${token}` } };
}
