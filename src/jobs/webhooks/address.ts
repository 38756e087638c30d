import { isLoopback } from "../../client/api/http/proxy.js";
import { errorAt, type Problem, throwErrors, warningAt } from "./problem.js";
import type { Webhook } from "./configuration.js";

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
  const [path = "", query = ""] = split(webhook.path ?? "");
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
  if (mayLeave(split(path)[0] ?? "")) {
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
export function shownUrl(url: URL): string {
  if (url.search === "") return url.href;
  const query = url.search
    .slice(1)
    .split("&")
    .map((pair) => {
      const [name] = new URLSearchParams(pair).keys();
      return name !== undefined && secretName.test(name)
        ? `${pair.split("=", 1)[0] ?? ""}=[hidden]`
        : pair;
    });
  return `${url.origin}${url.pathname}?${query.join("&")}`;
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
function split(path: string): readonly string[] {
  const mark = path.indexOf("?");
  return mark === -1 ? [path] : [path.slice(0, mark), path.slice(mark + 1)];
}
