import { z } from "zod";
import { readNamed } from "../../core/files/read-path.js";
import { UsageError } from "../../core/errors.js";
import { quoted } from "../../core/wording/printable.js";
import { parseYaml } from "../../core/wording/yaml-text.js";
import { isLoopback } from "../../client/api/http/proxy.js";
import type { JsonObject } from "../../core/finding.js";
import { contentProblems, errorAt, pointerOf, type Problem, warningAt } from "./render.js";

/** Methods that a webhook can use. The interface names POST, PUT and PATCH as examples. */
const webhookMethods = ["POST", "PUT", "PATCH", "DELETE", "GET"] as const;

export const webhookSchema = z.strictObject({
  /** Label; not empty. */
  name: z
    .string({ error: expected("a string") })
    .regex(/\S/, "must not be empty")
    .max(200, "must not be longer than 200 characters"),
  /** Endpoint to call: an absolute http:// or https:// address. */
  endpoint: z.string({ error: expected("a string") }),
  method: z.enum(webhookMethods, { error: expected(`one of ${webhookMethods.join(", ")}`) }),
  /** Path within the endpoint, with or without a leading slash. May include a query. */
  path: z.string({ error: expected("a string") }).optional(),
  /**
   * Data to send: any JSON value, with PQL fields in its strings. A string is sent as plain text,
   * null as no body, everything else as JSON.
   */
  payload: z.unknown().nonoptional({ error: "is missing" }),
});

export type Webhook = Readonly<z.output<typeof webhookSchema>>;

type Address = Pick<Webhook, "endpoint" | "path">;

/**
 * Reads a YAML or JSON file with a webhook.
 *
 * @throws UsageError `webhook_file` if the file cannot be read, and as {@link parseWebhook}
 */
export async function readWebhook(file: string, signal?: AbortSignal): Promise<Webhook> {
  const bytes = await readNamed(file, "webhook_file", `the webhook ${file}`, { signal });
  return parseWebhook(bytes.toString("utf8"), file);
}

/**
 * Parses a webhook; see {@link readWebhook}.
 *
 * @param origin source of the text, for messages
 * @throws UsageError `webhook_syntax` with line and column of the first fault; `webhook_schema` with
 *   the place of every invalid member
 */
export function parseWebhook(text: string, origin: string): Webhook {
  const { value, fault } = parseYaml(text);
  if (fault !== null) {
    const { position, message } = fault;
    const at = position === null ? "" : `, line ${position.line}, column ${position.column}`;
    throw new UsageError("webhook_syntax", `${origin}${at}: ${message}`);
  }
  return asWebhook(value, origin);
}

/** @throws UsageError `webhook_schema` with the place of every invalid member */
export function asWebhook(value: unknown, origin: string): Webhook {
  const parsed = webhookSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.flatMap(describe);
  const count = faults.length === 1 ? "" : `${faults.length} faults\n  `;
  throw new UsageError("webhook_schema", `${origin}: ${count}${faults.join("\n  ")}`);
}

function describe(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => `unknown member ${quoted(key)}`);
  }
  if (issue.path.length > 0) return [`${pointerOf(issue.path)} ${issue.message}`];
  return ["a webhook must be an object with name, endpoint, method and payload"];
}

function expected(kind: string) {
  return ({ input }: { readonly input?: unknown }) =>
    input === undefined ? "is missing" : `must be ${kind}`;
}

/** The URL that a webhook without {@link addressProblems} calls: its path below its endpoint. */
export function webhookUrl({ endpoint, path = "" }: Address): URL {
  if (path === "") return new URL(endpoint);
  return new URL(`${endpoint.replace(/\/$/, "")}/${path.replace(/^\//, "")}`);
}

/**
 * Checks the address of a webhook for credentials (which would be logged on the way) and PQL fields
 * (which are allowed in the payload only), and a path that leaves the endpoint.
 */
export function addressProblems({ endpoint, path = "" }: Address): Problem[] {
  const problems: Problem[] = [];
  const fault = (pointer: string, code: string, message: string): void => {
    problems.push(errorAt(pointer, code, message));
  };
  for (const [pointer, text] of Object.entries({ "/endpoint": endpoint, "/path": path })) {
    if (text.includes("{{")) {
      const message = "PQL fields are filled in only in the payload; write the value here";
      fault(pointer, "field_outside_payload", message);
    } else if (text.includes("#")) {
      fault(pointer, "bad_path", 'the part after "#" is never sent; write "#" as %23');
    }
  }
  const url = /^https?:\/\//i.test(endpoint) && URL.canParse(endpoint) ? new URL(endpoint) : null;
  if (url === null) fault("/endpoint", "bad_endpoint", "must be an http:// or https:// address");
  else if (url.username !== "" || url.password !== "") {
    const message =
      "user name and password do not belong in an address; use Bearer authentication with an API key";
    fault("/endpoint", "credentials_in_endpoint", message);
  } else if (path !== "" && url.search !== "") {
    fault("/endpoint", "bad_endpoint", "a query belongs at the end of the path");
  } else if (
    path !== "" &&
    (address.test(path) || !isWithin(webhookUrl({ endpoint, path }), url))
  ) {
    fault(
      "/path",
      "bad_path",
      "must be a path within the endpoint, not an address, without backslashes and control characters",
    );
  }
  if (url?.protocol === "http:" && !isLoopback(url.hostname)) {
    const message = "http:// sends subscriber data and API key unencrypted; use https://";
    problems.push(warningAt("/endpoint", "plain_http", message));
  }
  return problems;
}

/** The start of an address, and characters that a URL drops or reads as a slash. */
const address = /^[a-z][a-z0-9+.-]*:\/\/|^\/\/|[\u0000-\u001f\u007f\\]/i;

function isWithin({ pathname }: URL, endpoint: URL): boolean {
  return pathname.startsWith(endpoint.pathname.replace(/\/?$/, "/"));
}

/**
 * Checks a webhook without sending it. Neither calls nor throws.
 *
 * With a case context, reports fields missing from it as errors, and warns about subscriber data
 * that the payload or the address contains as static text.
 *
 * @returns errors first; empty if there are none
 */
export function checkWebhook(webhook: Webhook, context?: JsonObject): readonly Problem[] {
  const problems = [...addressProblems(webhook), ...contentProblems(webhook, context)];
  return problems.sort((a, b) => Number(a.level === "warning") - Number(b.level === "warning"));
}
