import { z } from "zod";
import { readPath } from "../../core/files/read-path.js";
import { UsageError } from "../../core/errors.js";
import { quoted } from "../../core/wording/printable.js";
import { parseYaml } from "../../core/wording/yaml-text.js";
import { errorAt, pointerOf, throwErrors, warningAt, type Problem } from "./render.js";
import { isLoopback } from "../../client/api/http/proxy.js";

/** Methods that a webhook can use. The interface names POST, PUT and PATCH as examples. */
const webhookMethods = ["POST", "PUT", "PATCH", "DELETE", "GET"] as const;

export const webhookSchema = z.strictObject({
  /** Label; not empty. */
  name: z
    .string({ error: expected("a string") })
    .regex(/\S/, "must not be empty")
    .max(200, "must not be longer than 200 characters"),
  /** Endpoint to call: an absolute http:// or https:// address. */
  endpoint: z
    .string({ error: expected("a string") })
    .refine(
      (text) => /^https?:\/\//i.test(text) && URL.canParse(text),
      "must be an http:// or https:// address",
    ),
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

/**
 * Reads a YAML or JSON file with a webhook.
 *
 * @throws UsageError `webhook_file` if the file cannot be read, and as {@link parseWebhook}
 */
export async function readWebhook(file: string, signal?: AbortSignal): Promise<Webhook> {
  const bytes = await readPath(file, { signal }).catch((cause: unknown) => {
    signal?.throwIfAborted();
    const code = (cause as NodeJS.ErrnoException).code;
    const why =
      code === "ENOENT" ? "the file does not exist" : `cannot be read (${code ?? "unknown"})`;
    throw new UsageError("webhook_file", `${file}: ${why}`, { cause });
  });
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

type Address = Pick<Webhook, "name" | "endpoint" | "path">;

/**
 * Builds the URL that a webhook calls: its path below its endpoint, joined by one slash. The
 * endpoint's query goes before the path's.
 *
 * @throws WebhookError with the errors of {@link addressProblems}
 */
export function webhookUrl(webhook: Address): URL {
  throwErrors(addressProblems(webhook), webhook.name);
  const url = new URL(webhook.endpoint);
  const [path, query] = split(webhook.path ?? "");
  if (path !== "") {
    url.pathname = `${url.pathname.replace(/\/$/, "")}/${path.replace(/^\//, "")}`;
  }
  if (query !== "") url.search = url.search === "" ? query : `${url.search}&${query}`;
  return url;
}

/**
 * Checks the address of a webhook for credentials (which would be logged on the way), PQL fields
 * (which are allowed in the payload only), and paths that leave the endpoint.
 */
export function addressProblems({ endpoint, path = "" }: Address): Problem[] {
  const problems: Problem[] = [];
  for (const [pointer, text] of Object.entries({ "/endpoint": endpoint, "/path": path })) {
    if (text.includes("{{")) {
      const message = "PQL fields are filled in only in the payload; write the value here";
      problems.push(errorAt(pointer, "field_outside_payload", message));
    } else if (text.includes("#")) {
      const message = 'the part after "#" is never sent; write "#" as %23';
      problems.push(errorAt(pointer, "bad_path", message));
    }
  }
  if (mayLeave(split(path)[0])) {
    const message =
      'must be a path within the endpoint, not an address, without backslashes, control characters, "." and ".." as segments, and "%" other than in percent-encoding';
    problems.push(errorAt("/path", "bad_path", message));
  }
  const url = URL.canParse(endpoint) ? new URL(endpoint) : null;
  if (url?.protocol !== "https:" && url?.protocol !== "http:") {
    const message = "must be an http:// or https:// address";
    return [...problems, errorAt("/endpoint", "bad_endpoint", message)];
  }
  if (url.username !== "" || url.password !== "") {
    const message =
      "user name and password do not belong in an address; use Bearer authentication with an API key";
    problems.push(errorAt("/endpoint", "credentials_in_endpoint", message));
  }
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    const message = "http:// sends subscriber data and API key unencrypted; use https://";
    problems.push(warningAt("/endpoint", "plain_http", message));
  }
  return problems;
}

/** The URL for display, with the values of parameters that look like secrets hidden. */
export function shownUrl({ href }: URL): string {
  return href.replaceAll(/(?<=[?&])([^=&]*)=[^&]*/g, (parameter, name: string) => {
    const [decoded = ""] = new URLSearchParams(name).keys();
    return secretName.test(decoded) ? `${name}=[hidden]` : parameter;
  });
}

const secretName =
  /^(?:.*[-_.])?(?:api[-_]?key|key|(?:access[-_]?|auth[-_]?)?token|secret|password|passwd|pwd|signature|sig)$/i;

/** Whether a path (without its query), decoded or not, could lead out of the endpoint. */
function mayLeave(path: string): boolean {
  try {
    return [path, decodeURIComponent(path)].some((each) => leavesEndpoint.test(each));
  } catch {
    return true;
  }
}

const leavesEndpoint =
  /[\u0000-\u001f\u007f\\]|^\/\/|^[a-z][a-z0-9+.-]*:\/\/|(?:^|\/)\.{1,2}(?:\/|$)/i;

/** Splits path and query. Only the first "?" separates them. */
function split(path: string): readonly [path: string, query: string] {
  const [before = ""] = path.split("?", 1);
  return [before, path.slice(before.length + 1)];
}
