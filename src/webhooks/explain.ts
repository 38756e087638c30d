import type { ErrorCode } from "../core/error-codes.js";
import { authenticationSteps, saysAuthenticationFailed } from "../api/options.js";
import type { Answer } from "../api/types.js";
import type { PreparedCall } from "./prepare.js";
import { quote } from "./problem.js";

/** A receiver's answer, safe to display. */
export interface Reply {
  readonly status: number;
  readonly headers: Answer["headers"];
  readonly location: string | null;
  /** The start of the body. An echoed API key is masked. */
  readonly body: string;
  /** True if the body was longer or broke off. */
  readonly truncated: boolean;
}

export interface Refusal {
  /** `authentication_failed`, `redirect`, or `http_` and the status. */
  readonly code: ErrorCode;
  /** What happened and what to do. Contains no secrets. */
  readonly message: string;
}

export function explainRefusal(answer: Reply, call: PreparedCall): Refusal {
  const { status } = answer;
  const what = `${call.shown.method} ${call.shown.url} was answered with ${status}`;
  const said =
    answer.body.trim() === "" ? "" : ` The answer says: ${quote(answer.body.trim(), 300)}`;
  if (isAuthenticationFailure(answer, call)) {
    return { code: "authentication_failed", message: `${what}: ${authentication(call)}${said}` };
  }
  if (status >= 300 && status < 400) {
    const target =
      answer.location === null ? "" : ` to ${quote(withoutQuery(answer.location), 200)}`;
    const message = `${what}, a redirect${target}. Redirects are not followed: write the final address into endpoint and path.`;
    return { code: "redirect", message };
  }
  const advice = adviceFor.get(status) ?? generic(status);
  return { code: `http_${status}`, message: `${what}: ${advice}${said}` };
}

/**
 * True if the receiver refused the credentials: 401, 403, or a body that says so with any status.
 * Ignores the phrase in a success if the request contained it too, since receivers may echo.
 */
export function isAuthenticationFailure({ status, body }: Reply, call: PreparedCall): boolean {
  if (status === 401 || status === 403) return true;
  if (!saysAuthenticationFailed(body)) return false;
  return status < 200 || status > 299 || !saysAuthenticationFailed(call.body ?? "");
}

function authentication({ url, apiKey }: PreparedCall): string {
  const sent =
    apiKey === null
      ? `Authentication Failed, and no API key is configured for ${url.origin}.`
      : `Authentication Failed: the API key configured for ${url.origin} was sent as Bearer and refused.`;
  return `${sent} ${authenticationSteps} Set the key of the case management instance in REPUTE_CASE_API_KEY, and keys of other endpoints with --endpoint-keys-file.`;
}

const adviceFor: ReadonlyMap<number, string> = new Map([
  [400, "the receiver did not understand the payload; compare it with what it expects."],
  [404, "nothing exists at this address; check endpoint and path."],
  [429, "the receiver gets too many requests; send it again later."],
]);

function generic(status: number): string {
  return status >= 500
    ? "the receiver failed; send it again later."
    : "the receiver did not accept the call, and repeating it would not help.";
}

function withoutQuery(location: string): string {
  return location.split(/[?#]/, 1)[0] ?? "";
}
