import type { MadeUp } from "../../core/finding.js";
import { UsageError } from "../../core/errors.js";

/** What to do about `Authentication Failed`, from the specification. */
export const authenticationSteps =
  "Step 1: generate an API key in the Settings tab of the case management product." +
  ' Step 2: use Bearer authentication: send it in the header "Authorization: Bearer <API_KEY>".';

/** `option` makes the flag (`--OPTION-file`) and the variable (`REPUTE_OPTION`). */
const services = {
  intel: { name: "the intelligence interface", credential: "API key", option: "api-key" },
  ops: { name: "the operations interface", credential: "access token", option: "access-token" },
  case: { name: "the case management instance", credential: "API key", option: "case-api-key" },
};

export type ServiceName = keyof typeof services;

export type ServiceDescription = ReturnType<typeof describeService>;

/**
 * How messages refer to a service and its credential: "401 from the operations interface", "the access
 * token in REPUTE_ACCESS_TOKEN".
 *
 * @param holder the workers, if they send the credential
 */
export function describeService(service: ServiceName, isConfigured: boolean, holder?: string) {
  const { name, credential, option } = services[service];
  const advice = service === "case" ? authenticationSteps : null;
  return {
    name,
    credential: {
      name: credential,
      variable: `REPUTE_${option.toUpperCase().replaceAll("-", "_")}`,
      flag: `--${option}-file`,
      configured: isConfigured || holder !== undefined,
      /** What to do if it is refused. */
      advice: holder === undefined ? advice : `Check the key of ${holder}.`,
    },
  };
}

/**
 * The header that carries a credential: `x-api-key`, or Bearer (RFC 6750 section 2.1).
 *
 * @throws UsageError if a header cannot carry it (it may contain a line break from its file); the
 *   message doesn't reveal it
 */
export function credentialHeader(
  service: ServiceName,
  credential: string | undefined,
): readonly [header: string, value: string] | undefined {
  if (credential === undefined) return undefined;
  if (!/^[\x21-\x7e]+$/.test(credential)) {
    const { name, variable } = describeService(service, true).credential;
    throw new UsageError(
      "invalid_credential",
      `the ${name} in ${variable} is empty or contains spaces or other characters that a header cannot carry`,
    );
  }
  return service === "intel"
    ? ["x-api-key", credential]
    : ["authorization", `Bearer ${credential}`];
}

/**
 * Whether a body says `Authentication Failed`; the specification names this failure without a status.
 * Finds the phrase in plain text, JSON and HTML, case-insensitively, also as an error code
 * (`authentication_failed`) unless JSON negates it (`"authentication_failed": false`).
 *
 * @param body only its beginning is searched
 */
export function saysAuthenticationFailed(body: string | Buffer): boolean {
  const text = (typeof body === "string" ? body : body.toString("utf8", 0, longestBody))
    .slice(0, longestBody)
    .replaceAll(/\\u00([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    .replaceAll(/\\[nrt]/g, " ")
    .replaceAll(/<[^<>]*>/g, " ")
    .replaceAll(/&(?:nbsp|#160|#xa0|#32|#x20);/gi, " ");
  return phrase.test(text);
}

const longestBody = 64 * 1024;

const phrase = /authentication[\s_-]*failed(?!["']?\s*:\s*(?:false|null|0\b))/i;

/** Headers that mark made-up answers. The embedded service sends one with every answer. */
export const madeUpHeaders: Readonly<Record<MadeUp, string>> = {
  sample: "x-sample-data",
  invented: "x-synthetic-data",
};

/** How an answer is made up, from its headers; undefined for a real one. */
export function madeUpIn(headers: Readonly<Record<string, unknown>>): MadeUp | undefined {
  if (headers[madeUpHeaders.invented] !== undefined) return "invented";
  return headers[madeUpHeaders.sample] === undefined ? undefined : "sample";
}
