import { UsageError } from "../core/errors.js";
import { authenticationSteps } from "./options.js";

/** What messages tell of the service that a client talks to. */
export interface ServiceDescription {
  /** As in "401 from the operations interface". */
  readonly name: string;
  readonly credential: {
    /** As in "the access token in REPUTE_ACCESS_TOKEN". */
    readonly name: string;
    /** Variable that holds it. */
    readonly variable: string;
    /** Flag that names a file with it. */
    readonly flag: string;
    /** Whether one is configured, and so sent. */
    readonly configured: boolean;
    /** How to get one, where the specification tells. */
    readonly advice?: string;
  };
}

/** `option` is without its dashes and `-file`; the variable is called like it. */
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

export function describeService(service: ServiceName, configured: boolean): ServiceDescription {
  const { name, credential, option, ...advice } = services[service];
  const variable = `REPUTE_${option.toUpperCase().replaceAll("-", "_")}`;
  const flag = `--${option}-file`;
  return { name, credential: { name: credential, variable, flag, configured, ...advice } };
}

/**
 * Makes the header that carries a credential: `x-api-key`, or Bearer (RFC 6750 section 2.1); none
 * without a credential.
 *
 * @throws UsageError when the credential has characters that a header cannot carry (a line end that
 *   came along from a file, say); the message does not show it
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
      `the ${name} in ${variable} is empty or has blanks or other characters that cannot be sent`,
    );
  }
  return [
    service === "intel" ? ["x-api-key", credential] : ["authorization", `Bearer ${credential}`],
  ];
}
