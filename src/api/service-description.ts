import { authenticationSteps } from "./authentication.js";

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

export function intelService(configured: boolean): ServiceDescription {
  return describe("the intelligence interface", "API key", "api-key", configured);
}

export function opsService(configured: boolean): ServiceDescription {
  return describe("the operations interface", "access token", "access-token", configured);
}

export function caseService(configured: boolean): ServiceDescription {
  const service = describe("the case management instance", "API key", "case-api-key", configured);
  return { ...service, credential: { ...service.credential, advice: authenticationSteps } };
}

/** @param option without its dashes and `-file`; the variable is called like it */
function describe(
  name: string,
  credential: string,
  option: string,
  configured: boolean,
): ServiceDescription {
  const variable = `REPUTE_${option.toUpperCase().replaceAll("-", "_")}`;
  return { name, credential: { name: credential, variable, flag: `--${option}-file`, configured } };
}
