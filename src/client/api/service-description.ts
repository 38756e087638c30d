import type { MadeUp } from "../../core/finding.js";
import { UsageError } from "../../core/errors.js";
import { authenticationSteps } from "./options.js";

/** How messages refer to a service and its credential. */
export interface ServiceDescription {
  /** As in "401 from the operations interface". */
  readonly name: string;
  readonly credential: {
    /** As in "the access token in REPUTE_ACCESS_TOKEN". */
    readonly name: string;
    readonly variable: string;
    /** Flag for the file that contains it. */
    readonly flag: string;
    /** Whether one is configured and therefore sent. */
    readonly configured: boolean;
    /** What to do if it is refused. */
    readonly advice?: string;
  };
}

/** `option` makes the flag (`--OPTION-file`) and the variable (`REPUTE_OPTION`). */
const services = {
  intel: { name: "the intelligence interface", credential: "API key", option: "api-key" },
  ops: { name: "the operations interface", credential: "access token", option: "access-token" },
  case: {
    name: "the case management instance",
    credential: "API key",
    option: "case-api-key",
    advice: authenticationSteps,
  },
};

export type ServiceName = keyof typeof services;

/** @param holder the workers, if they send the credential */
export function describeService(
  service: ServiceName,
  isConfigured: boolean,
  holder?: string,
): ServiceDescription {
  const { name, credential, option, ...more } = services[service];
  const configured = isConfigured || holder !== undefined;
  const advice = holder === undefined ? more : { advice: `Check the key of ${holder}.` };
  const variable = `REPUTE_${option.toUpperCase().replaceAll("-", "_")}`;
  const flag = `--${option}-file`;
  return { name, credential: { name: credential, variable, flag, configured, ...advice } };
}

/**
 * Builds the header that carries a credential: `x-api-key`, or Bearer (RFC 6750 section 2.1); none
 * without a credential.
 *
 * @throws UsageError if a header cannot carry it (it may contain a line break from its file); the
 *   message doesn't reveal it
 */
export function credentialHeader(
  service: ServiceName,
  credential: string | undefined,
): readonly (readonly [name: string, value: string])[] {
  if (credential === undefined) return [];
  if (!/^[\x21-\x7e]+$/.test(credential)) {
    const { name, variable } = describeService(service, true).credential;
    throw new UsageError(
      "invalid_credential",
      `the ${name} in ${variable} is empty or contains spaces or other characters that a header cannot carry`,
    );
  }
  return [
    service === "intel" ? ["x-api-key", credential] : ["authorization", `Bearer ${credential}`],
  ];
}

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
