import { isLoopback } from "../api/http/proxy.js";
import { refuseErrors, type Problem } from "./problem.js";
import type { Webhook } from "./configuration.js";

type Address = Pick<Webhook, "name" | "endpoint" | "path">;

/**
 * The address that a webhook calls: its path beneath its endpoint, with one slash between them.
 * A query of the endpoint comes before that of the path.
 *
 * @throws WebhookError as {@link addressProblems} finds them
 */
export function webhookUrl(webhook: Address): URL {
  refuseErrors(addressProblems(webhook), webhook.name);
  const url = new URL(webhook.endpoint);
  const [path = "", query = ""] = split(webhook.path ?? "");
  if (path !== "") {
    url.pathname = `${url.pathname.replace(/\/$/, "")}/${path.replace(/^\//, "")}`;
  }
  if (query !== "") url.search = url.search === "" ? query : `${url.search}&${query}`;
  return url;
}

/**
 * What is wrong with the address of a webhook: credentials in it (they would be logged on the
 * way), PQL fields (the interface has them in the payload only), a path that leaves the endpoint.
 */
export function addressProblems({ endpoint, path = "" }: Address): Problem[] {
  const problems: Problem[] = [];
  const report = (level: Problem["level"], code: string, pointer: string, message: string) =>
    problems.push({ level, code, pointer, message });

  for (const [pointer, text] of [
    ["/endpoint", endpoint],
    ["/path", path],
  ] as const) {
    if (text.includes("{{")) {
      report(
        "error",
        "field_outside_payload",
        pointer,
        "PQL fields are filled in within the payload only",
      );
    } else if (text.includes("#")) {
      report("error", "bad_path", pointer, 'what follows "#" is never sent; write "#" as %23');
    }
  }
  const fault = pathFault(split(path)[0] ?? "");
  if (fault !== null) report("error", "bad_path", "/path", fault);
  const url = URL.canParse(endpoint) ? new URL(endpoint) : null;
  if (url?.protocol !== "https:" && url?.protocol !== "http:") {
    report("error", "bad_endpoint", "/endpoint", "must be an http:// or https:// address");
    return problems;
  }
  if (url.username !== "" || url.password !== "") {
    report(
      "error",
      "credentials_in_endpoint",
      "/endpoint",
      "user name and password do not belong into an address; use Bearer authentication with an API key",
    );
  }
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    report(
      "warning",
      "plain_http",
      "/endpoint",
      "http:// sends subscriber data and API key unencrypted; use https://",
    );
  }
  for (const [pointer, search] of [
    ["/endpoint", url.search],
    ["/path", split(path)[1] ?? ""],
  ] as const) {
    const names = [...new URLSearchParams(search).keys()];
    if (names.some((name) => secretName.test(name))) {
      report(
        "warning",
        "secret_in_address",
        pointer,
        "a secret in an address ends up in logs; use Bearer authentication with an API key",
      );
    }
  }
  return problems;
}

/** The address as it may be shown: values of parameters that sound like secrets are hidden. */
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

/** Why a path (without its query) could lead elsewhere than beneath the endpoint, or null. */
function pathFault(path: string): string | null {
  if (/[\u0000-\u001f\u007f\\]/.test(path))
    return "must hold neither control characters nor backslashes";
  if (path.startsWith("//") || /^[a-z][a-z0-9+.-]*:\/\//i.test(path)) {
    return "must be a path within the endpoint, not an address of its own";
  }
  for (const segment of path.split("/")) {
    let decoded: string;
    try {
      decoded = decodeURIComponent(segment);
    } catch {
      return 'holds a "%" that starts no percent-encoding; write "%" as %25';
    }
    if (decoded.split(/[\\/]/).some((part) => part === "." || part === "..")) {
      return 'must not hold the segments "." and "..": it would leave the endpoint';
    }
  }
  return null;
}

/** Path and query; a "?" within the query is part of it. */
function split(path: string): readonly string[] {
  const mark = path.indexOf("?");
  return mark === -1 ? [path] : [path.slice(0, mark), path.slice(mark + 1)];
}
