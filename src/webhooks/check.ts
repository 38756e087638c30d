import type { JsonObject } from "../core/finding.js";
import { addressProblems } from "./address.js";
import type { Webhook } from "./configuration.js";
import { parsePql } from "./pql.js";
import { childPointer, type Problem, warningAt } from "./problem.js";
import { malformedFields, renderCollecting } from "./render.js";
import { findSubscriberValues, subscriberValues, type SubscriberValue } from "./static-data.js";

/**
 * Looks a webhook over without sending it (behaviour: Webhooks). Nothing is called, nothing thrown.
 *
 * With a case context to compare with, fields that it lacks are errors, and subscriber data that
 * stands in the payload or the address as static text is warned about.
 *
 * @returns errors first, each group in the order of the webhook; empty when all is well
 */
export function checkWebhook(webhook: Webhook, context?: JsonObject): readonly Problem[] {
  const problems: Problem[] = [...addressProblems(webhook), ...bodyProblems(webhook)];
  if (context) problems.push(...renderCollecting(webhook.payload, context).problems);
  const values = context ? subscriberValues(context) : [];
  problems.push(...staticAddress(webhook, values));
  for (const { text, pointer, kind } of payloadTexts(webhook.payload, "/payload")) {
    problems.push(...textProblems(text, pointer, kind, values, context === undefined));
  }
  const errors = problems.filter((problem) => problem.level === "error");
  return [...errors, ...problems.filter((problem) => problem.level === "warning")];
}

interface PayloadText {
  readonly text: string;
  readonly pointer: string;
  readonly kind: "text" | "number" | "member name";
}

/** Every text of a payload, and every number as text. */
function* payloadTexts(payload: unknown, pointer: string, depth = 0): Generator<PayloadText> {
  if (typeof payload === "string") yield { text: payload, pointer, kind: "text" };
  if (typeof payload === "number") yield { text: String(payload), pointer, kind: "number" };
  if (typeof payload !== "object" || payload === null || depth > 100) return;
  for (const [member, value] of Object.entries(payload)) {
    const inner = childPointer(pointer, member);
    if (!Array.isArray(payload)) yield { text: member, pointer: inner, kind: "member name" };
    yield* payloadTexts(value, inner, depth + 1);
  }
}

function textProblems(
  text: string,
  pointer: string,
  kind: PayloadText["kind"],
  values: readonly SubscriberValue[],
  tellMalformed: boolean,
): Problem[] {
  if (kind === "member name") {
    if (!text.includes("{{")) return [];
    const message = "PQL fields in the name of a member are not filled in";
    return [warningAt(pointer, "field_in_member_name", message)];
  }
  const parsed = parsePql(text);
  const problems = tellMalformed ? malformedFields(parsed, pointer) : [];
  const statics = parsed.parts.filter((part) => typeof part === "string").join("\u0000");
  const bare = /(?<![\p{L}\p{N}_$.])s\.resolver_data(?:\.[\p{L}_$][\p{L}\p{N}_$-]*)*/u.exec(
    statics,
  );
  if (bare && parsed.faults.length === 0) {
    const message = `a PQL field stands between braces: write {{ ${bare[0]} }}`;
    problems.push(warningAt(pointer, "bare_field", message));
  }
  for (const { fields } of findSubscriberValues(statics, values)) {
    problems.push(staticData(pointer, `write ${alternatives(fields)} instead`));
  }
  return problems;
}

/** A value that stands in an address cannot become a field; the payload is the place for it. */
function staticAddress(webhook: Webhook, values: readonly SubscriberValue[]): Problem[] {
  if (values.length === 0) return [];
  const url = URL.canParse(webhook.endpoint) ? new URL(webhook.endpoint) : null;
  return [
    { pointer: "/endpoint", text: url ? url.pathname + url.search : "" },
    { pointer: "/path", text: webhook.path ?? "" },
  ].flatMap(({ pointer, text }) =>
    findSubscriberValues(decoded(text), values).map(({ fields }) =>
      staticData(
        pointer,
        `an address is the same for every case, so send it in the payload as ${alternatives(fields)}`,
      ),
    ),
  );
}

function staticData(pointer: string, advice: string): Problem {
  const message = `subscriber data stands here as static text, which is right for one case only; ${advice}`;
  return warningAt(pointer, "static_data", message);
}

function alternatives(fields: readonly string[]): string {
  return fields
    .slice(0, 3)
    .map((field) => `{{ ${field} }}`)
    .join(" or ");
}

function bodyProblems({ method, payload }: Webhook): Problem[] {
  const problems: Problem[] = [];
  if (method === "GET" && payload !== null) {
    const message =
      "the body of a GET has no defined meaning (RFC 9110, section 9.3.1); many servers ignore it";
    problems.push(warningAt("/payload", "payload_with_get", message));
  }
  if (typeof payload === "string" && /^\s*(?:\{(?!\{)|\[)/.test(payload)) {
    const message =
      "this text looks like JSON but is sent as plain text, its fields not escaped; write the payload as a JSON value, without quotes around it";
    problems.push(warningAt("/payload", "json_as_text", message));
  }
  return problems;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
