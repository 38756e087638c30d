import { randomUUID } from "node:crypto";
import { UsageError } from "../../core/errors.js";
import type { JsonObject } from "../../core/finding.js";
import type { ExclusionList } from "../../core/exclusions/exclusion-list.js";
import { addressProblems, shownUrl, webhookUrl, type Webhook } from "./configuration.js";
import { errorAt, throwErrors, pointerOf, type Problem } from "./problem.js";
import { renderCollecting, valuesIn } from "./render.js";
import type { Item } from "../../core/item/item.js";
import { recogniseItem } from "../../core/item/recognise.js";

/** An API key and the origin it is for. */
export interface ApiKey {
  /**
   * Origin (scheme, host, port) that the key is sent to. The rest of a longer address is ignored.
   */
  readonly origin: string;
  /** The key, sent as `Authorization: Bearer <key>`. */
  readonly key: string;
}

export interface PrepareOptions {
  /** @default none: the call has no Authorization header */
  readonly apiKeys?: readonly ApiKey[] | undefined;
  /**
   * Sent with every attempt of a call, so that the receiver can tell a repetition from a new call.
   * To repeat an earlier call, pass its key.
   *
   * @default a new random UUID
   */
  readonly idempotencyKey?: string | undefined;
}

export interface PrepareRules extends PrepareOptions {
  /** A payload with what one of them names is not sent. @default none */
  readonly exclusions?: readonly ExclusionList[] | undefined;
}

/** A call for display, with secrets replaced by `[hidden]`. */
export interface WebhookRequest {
  readonly method: string;
  readonly url: string;
  /** Header fields, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as sent; null for none. Contains subscriber data. */
  readonly body: string | null;
}

export interface PreparedCall {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly idempotencyKey: string;
  readonly apiKey: string | null;
  readonly shown: WebhookRequest;
}

/**
 * Renders a webhook for a case, without sending it.
 *
 * @throws WebhookError if the payload or the address is invalid
 * @throws UsageError if an API key or the idempotency key does not fit in a header
 */
export function prepareCall(
  webhook: Webhook,
  context: JsonObject,
  { apiKeys = [], idempotencyKey = randomUUID(), exclusions = [] }: PrepareRules = {},
): PreparedCall {
  const rendering = renderCollecting(webhook.payload, context);
  const excluded = excludedValues(rendering.value, exclusions);
  throwErrors([...addressProblems(webhook), ...rendering.problems, ...excluded], webhook.name);
  const url = webhookUrl(webhook);
  const [body, contentType] = encode(rendering.value);
  const apiKey = keyFor(url.origin, apiKeys);
  if (!/^[\u0021-\u007e]{1,255}$/.test(idempotencyKey)) {
    throw new UsageError(
      "idempotency_key",
      "an idempotency key must have 1 to 255 visible ASCII characters and no spaces",
    );
  }
  const headers = {
    accept: "*/*",
    "user-agent": "repute",
    "idempotency-key": idempotencyKey,
    ...(contentType !== null && { "content-type": contentType }),
  };
  const shownHeaders = apiKey === null ? headers : { ...headers, authorization: "Bearer [hidden]" };
  const shown = { method: webhook.method, url: shownUrl(url), headers: shownHeaders, body };
  return { url, headers, body, idempotencyKey, apiKey, shown };
}

/** A payload as a body: a string as text, null as none, everything else as JSON. */
function encode(payload: unknown): [body: string | null, contentType: string | null] {
  if (payload === null || payload === undefined) return [null, null];
  return typeof payload === "string"
    ? [payload, "text/plain; charset=utf-8"]
    : [JSON.stringify(payload), "application/json"];
}

function keyFor(origin: string, apiKeys: readonly ApiKey[]): string | null {
  for (const entry of apiKeys) {
    const url = URL.canParse(entry.origin) ? new URL(entry.origin) : null;
    if (url?.protocol !== "https:" && url?.protocol !== "http:") {
      throw new UsageError(
        "api_key_origin",
        "an API key needs the http:// or https:// address it is for",
      );
    }
    if (url.origin !== origin) continue;
    if (!/^[\u0021-\u007e]+$/.test(entry.key)) {
      throw new UsageError(
        "api_key",
        `the API key for ${origin} is empty or contains characters not allowed in a header (white space, line breaks, non-ASCII)`,
      );
    }
    return entry.key;
  }
  return null;
}

/** Maximum number of values that are compared with the lists. A larger payload is refused. */
const mostValues = 100_000;

/** Values of a payload that contain an excluded item, in themselves or in the name of their member. */
function excludedValues(payload: unknown, lists: readonly ExclusionList[]): Problem[] {
  if (lists.length === 0) return [];
  const values = [...valuesIn(payload, ["payload"], mostValues + 1)];
  const problems = values.flatMap(({ path, value }) => {
    const texts = [path.length > 1 ? path.at(-1) : null, value].filter(
      (text) => typeof text === "string",
    );
    const list = texts.map((text) => listOfText(text, lists)).find((found) => found !== undefined);
    if (list === undefined) return [];
    const message = `something in it is on the exclusion list ${list.path}; nothing was sent`;
    return [errorAt(pointerOf(path), "excluded", message)];
  });
  if (values.length <= mostValues) return problems;
  const message = `with more than ${mostValues} values, it cannot be checked against the exclusion lists; nothing was sent`;
  return [...problems, errorAt("/payload", "too_large", message)];
}

/** The list that a text, or a word in it, is on. */
function listOfText(text: string, lists: readonly ExclusionList[]): ExclusionList | undefined {
  const words = text.split(betweenWords);
  const labelled = words.map((word) => word.slice(word.indexOf(":") + 1));
  for (const word of new Set([text, ...words, ...labelled])) {
    // A bare name within a text may be any word.
    if (word !== text && !/[.:@]|[\dA-Fa-f]{32}/.test(word)) continue;
    const item = asItem(word.replace(/[.!?]+$|(?<!:):$/, ""));
    const list = item && lists.find((each) => each.has(item));
    if (list) return list;
  }
  return undefined;
}

const betweenWords = /[\s"'`<>()[\]{}|=,;]+/u;

/** A word as an item. Hosts of the inner network are none elsewhere, but may be on a list. */
function asItem(word: string): Item | null {
  const { item } = recogniseItem(word);
  if (item !== null) return item;
  const url = word.includes("://") && URL.canParse(word) ? new URL(word) : null;
  if (url !== null) return { kind: "url", value: `http://${url.hostname}/` };
  const value = word.toLowerCase();
  if (/^[^@]+@[\w.-]+$/.test(word)) return { kind: "email", value };
  return /^[\w.-]+$/.test(word) ? { kind: "domain", value } : null;
}
