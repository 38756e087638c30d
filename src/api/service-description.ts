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
  return {
    name: "the intelligence interface",
    credential: {
      name: "API key",
      variable: "REPUTE_API_KEY",
      flag: "--api-key-file",
      configured,
    },
  };
}

export function opsService(configured: boolean): ServiceDescription {
  return {
    name: "the operations interface",
    credential: {
      name: "access token",
      variable: "REPUTE_ACCESS_TOKEN",
      flag: "--access-token-file",
      configured,
    },
  };
}

export function caseService(configured: boolean): ServiceDescription {
  return {
    name: "the case management instance",
    credential: {
      name: "API key",
      variable: "REPUTE_CASE_API_KEY",
      flag: "--case-api-key-file",
      configured,
      advice: authenticationSteps,
    },
  };
}
