import type { JsonObject } from "../../core/finding.js";
import { UsageError } from "../../core/errors.js";
import { ExactNumber, jsonText } from "../../core/json-members.js";
import { quoted } from "../../core/wording/printable.js";
import { nearestFirst } from "../../core/wording/did-you-mean.js";

export interface Problem {
  /** `error`: the webhook cannot be sent. `warning`: it can, but probably not as intended. */
  readonly level: "error" | "warning";
  /** Stable, lower case with underscores: `unknown_field`, `static_data`, `bad_path` … */
  readonly code: string;
  /** Contains neither secrets nor subscriber data. */
  readonly message: string;
  /** Place in the webhook as a JSON pointer (RFC 6901), such as `/payload/customer/email`. */
  readonly pointer: string;
}

export function errorAt(pointer: string, code: string, message: string): Problem {
  return { level: "error", code, message, pointer };
}

export function warningAt(pointer: string, code: string, message: string): Problem {
  return { level: "warning", code, message, pointer };
}

/** A webhook that cannot be rendered or sent. `code` is that of the first problem. */
export class WebhookError extends UsageError {
  readonly problems: readonly Problem[];

  constructor(problems: readonly [Problem, ...Problem[]], webhook: string) {
    const told = problems.map(({ pointer, message }) => `${pointer}: ${message}`);
    const count = told.length === 1 ? "" : `${told.length} problems\n  `;
    super(problems[0].code, `webhook ${quoted(webhook)}: ${count}${told.join("\n  ")}`);
    this.problems = problems;
  }
}

/** Throws a WebhookError if any problem is an error. @param webhook its name, for the message */
export function throwErrors(problems: readonly Problem[], webhook: string): void {
  const [first, ...rest] = problems.filter((problem) => problem.level === "error");
  if (first) throw new WebhookError([first, ...rest], webhook);
}

/** A path as a JSON pointer (RFC 6901 section 3). */
export function pointerOf(path: readonly PropertyKey[]): string {
  return path
    .map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
}

/**
 * Replaces the PQL fields of a payload with values of a case context.
 *
 * - A string that is a single field becomes the value itself, of any JSON type.
 * - Within a longer string, objects and arrays are written as JSON, and null as nothing.
 * - Member names, and strings without fields, stay as they are.
 *
 * Values are looked up, never evaluated; `fields` and `pathForm` define the syntax. The result may share
 * objects with the context.
 *
 * @returns the value, for use only if no problem is an error. Problems are every missing
 *   (`unknown_field`) or invalid (`malformed_field`) field, and numbers that have lost digits
 *   (`inexact_number`)
 */
export function renderPayload(payload: unknown, context: JsonObject) {
  const problems: Problem[] = [];
  const missing: MissingField[] = [];
  const inTexts: unknown[] = [];

  const render = (value: unknown, path: Path): unknown => {
    if (typeof value === "string") return renderText(value, pointerOf(path));
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((inner, index) => render(inner, [...path, index]));
    // `fromEntries` defines own members, even one named __proto__.
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, render(inner, [...path, name])]),
    );
  };

  const renderText = (text: string, pointer: string): unknown => {
    const valueOf = (inner: string, end: string, at: number): unknown => {
      const fault = end === "" ? '"{{" has no closing "}}"' : noPath;
      if (end !== "" && pathForm.test(inner.trim())) {
        const path = stepsOf(inner.trim());
        const found = readField(context, path);
        if (!found) missing.push({ path, pointer });
        return found?.value;
      }
      const message = `in the field at character ${at + 1}: ${fault}`;
      problems.push(errorAt(pointer, "malformed_field", message));
      return null;
    };
    const [first] = text.matchAll(fields);
    if (first?.[0] === text) return valueOf(first[1]!, first[2]!, 0);
    return text.replaceAll(fields, (_, inner: string, end: string, at: number) => {
      const value = valueOf(inner, end, at);
      inTexts.push(value);
      return asText(value);
    });
  };

  let value: unknown = null;
  try {
    value = render(payload, ["payload"]);
    // Fails here rather than when it is sent.
    jsonText(value);
    if ([value, ...inTexts].some(hasLostDigits)) {
      problems.push(errorAt("/payload", "inexact_number", lostDigits));
    }
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const message =
      "with its fields filled in, it is nested too deeply or too large; use single fields instead of whole objects";
    problems.push(errorAt("/payload", "too_large", message));
  }
  return { value, problems: [...problems, ...unknownFields(missing, context)] };
}

function asText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : jsonText(value);
}

/** @throws RangeError if the value is too large or too deep for JSON */
function hasLostDigits(value: unknown): boolean {
  let isInexact = false;
  JSON.stringify(value, (_, each: unknown) => {
    // Reading it has rounded it, or JSON has no such number.
    if (typeof each === "number") isInexact ||= !(Math.abs(each) <= Number.MAX_SAFE_INTEGER);
    return each;
  });
  return isInexact;
}

const lostDigits = "it has a number too large to be sent with all its digits; make it text";

/** Path of the subscriber data in a case context. */
const subscriberPath = ["s", "resolver_data"] as const;

/** Member names and array indexes from the root of a value. */
type Path = readonly (string | number)[];

/**
 * A value and all values below it, breadth first, members in order. Stops after `limit` values, so that
 * a huge context costs no more than a large one.
 */
export function* valuesIn(root: unknown, place: Path, limit = Number.POSITIVE_INFINITY) {
  const waiting = [{ path: place, value: root }];
  for (const found of waiting) {
    yield found;
    const { path, value } = found;
    if (typeof value !== "object" || value === null) continue;
    for (const [step, inner] of stepsInto(value)) {
      if (waiting.length >= limit) break;
      waiting.push({ path: [...path, step], value: inner });
    }
  }
}

function stepsInto(value: object): readonly (readonly [string | number, unknown])[] {
  if (Array.isArray(value)) return [...value.entries()];
  return Object.entries(value).filter(([name]) => name !== "__proto__");
}

interface MissingField {
  readonly path: Path;
  readonly pointer: string;
}

const maxCompared = 1000;
const maxListed = 10;
const plainName = /^[\p{L}\p{N}\p{P}\p{S} ]{1,120}$/u;

/** Reports each missing field, and with the last one the nearest existing fields. */
function unknownFields(missing: readonly MissingField[], context: unknown): Problem[] {
  return missing.map(({ path, pointer }, index) => {
    const name = formatPath(path);
    const shown = plainName.test(name) ? name : quoted(name, 120);
    const list = index < missing.length - 1 ? "" : `. ${existing(name, context)}`;
    return errorAt(pointer, "unknown_field", `the context has no field ${shown}${list}`);
  });
}

function existing(name: string, context: unknown): string {
  const data = readField(context, subscriberPath);
  // Subscriber data goes first, since most payloads use it.
  const found = [
    ...(data ? valuesIn(data.value, subscriberPath, maxCompared) : []),
    ...valuesIn(context, [], maxCompared),
  ].map(({ path }) => formatPath(path));
  const names = [...new Set(found)].filter((each) => plainName.test(each));
  if (names.length === 0) return "The context has no fields.";
  const left = names.length - maxListed;
  const more = left > 0 ? `, … and ${left} more` : "";
  const nearest = nearestFirst(name, names).slice(0, maxListed);
  return `Existing fields: ${nearest.join(", ")}${more}.`;
}

/**
 * A PQL field is `{{ path }}`, with optional white space; a path is a name followed by any number of
 * `.name` and `[0]` (an array index). There are no operators and no calls. A `}}` without `{{` is plain
 * text.
 */
const fields = /\{\{(.*?)(\}\}|$)/gs;

const pathForm = /^[^.[\]{}]+(?:\.[^.[\]{}]+|\[\d{1,9}\])*$/;

const noPath = "write the path of a field, such as s.resolver_data.CustomerEmail or s.items[0]";

function stepsOf(path: string): Path {
  return path
    .split(/\.|(?=\[)/)
    .map((step) => (step.startsWith("[") ? Number(step.slice(1, -1)) : step));
}

/** Formats a path as in a payload, but without braces. */
export function formatPath(path: Path): string {
  return path
    .map((step, index) => {
      if (typeof step === "number") return `[${step}]`;
      return index === 0 ? step : `.${step}`;
    })
    .join("");
}

/**
 * Follows a path through own members of objects and elements of arrays only: no inherited members,
 * array lengths or characters of strings, and never `__proto__`.
 *
 * @returns the boxed value, or null if there is none
 */
function readField(context: unknown, path: Path): { readonly value: unknown } | null {
  let value = context;
  for (const step of path) {
    if (typeof value !== "object" || value === null || step === "__proto__") return null;
    if (Array.isArray(value) !== (typeof step === "number") || !Object.hasOwn(value, step)) {
      return null;
    }
    value = (value as Record<string | number, unknown>)[step];
  }
  return value === undefined ? null : { value };
}

/** The texts of a webhook. */
interface Content {
  readonly endpoint: string;
  readonly path?: string | undefined;
  readonly payload: unknown;
}

/**
 * What is wrong with the fields of a webhook, and which subscriber data it has as static text. Without a
 * context, only the syntax of fields can be checked.
 */
export function contentProblems(
  { endpoint, path: place = "", payload }: Content,
  context: JsonObject | undefined,
): readonly Problem[] {
  const found = renderPayload(payload, context ?? {}).problems;
  const problems = found.filter(({ code }) => context !== undefined || code === "malformed_field");
  const known = context ? subscriberValues(context) : [];
  const warn = (pointer: string, text: string): void => {
    for (const fields of subscriberDataIn(text, known)) {
      const message = `this static text contains subscriber data, which is right for one case only; write ${fields} in the payload instead`;
      problems.push(warningAt(pointer, "static_data", message));
    }
  };
  warn("/endpoint", decoded(endpoint.replace(/^\w+:\/\/[^/?#]*/, "")));
  warn("/path", decoded(place));
  for (const { path, value } of valuesIn(payload, ["payload"], maxValues)) {
    if (typeof value !== "string" && typeof value !== "number") continue;
    warn(pointerOf(path), String(value).replaceAll(fields, "\u0000"));
  }
  return problems;
}

/** As it is if a percent sign is not part of percent-encoding. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const maxValues = 5000;
const maxValueLength = 1000;
const plainWord = /^(?:true|false|null|none|unknown|yes|n\/a)$/;

/** A value of the subscriber data in lower case, and the fields with this value. */
type SubscriberValue = readonly [text: string, fields: readonly string[]];

/**
 * Strings and numbers of the subscriber data, longest first. Omits values that occur everywhere:
 * shorter than three characters, booleans, words such as `none`.
 */
function subscriberValues(context: unknown): readonly SubscriberValue[] {
  const data = readField(context, subscriberPath);
  const fieldsOf = new Map<string, string[]>();
  for (const { path, value } of valuesIn(data?.value, subscriberPath, maxValues)) {
    const isNumber = typeof value === "number" || value instanceof ExactNumber;
    if (typeof value !== "string" && !isNumber) continue;
    const text = String(value).trim().toLowerCase();
    if (text.length < 3 || text.length > maxValueLength || plainWord.test(text)) continue;
    fieldsOf.set(text, [...(fieldsOf.get(text) ?? []), `{{ ${formatPath(path)} }}`]);
  }
  return [...fieldsOf].sort(([a], [b]) => b.length - a.length);
}

/**
 * Fields to use instead of the subscriber values that a static text has as whole words. A value within
 * a longer match (the name in the e-mail address) does not count again.
 */
function subscriberDataIn(text: string, values: readonly SubscriberValue[]): readonly string[] {
  let left = text.toLowerCase();
  return values.flatMap(([value, fields]) => {
    if (!left.includes(value)) return [];
    const literal = value.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
    const word = new RegExp(String.raw`(?<![\p{L}\p{N}])${literal}(?![\p{L}\p{N}])`, "gu");
    const rest = left.replaceAll(word, "\u0000");
    const isThere = rest !== left;
    left = rest;
    return isThere ? [fields.slice(0, 3).join(" or ")] : [];
  });
}
