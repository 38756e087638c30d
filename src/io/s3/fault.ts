import { continueRun, FatalError, type ReputeError, UsageError } from "../../core/errors.js";

/** Members of the SDK's errors. Messages of a service are not shown: they may echo a credential. */
interface SdkError {
  readonly name?: string;
  readonly code?: string;
  readonly message?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

type Action = "read" | "write";

interface KnownFault {
  readonly Kind: typeof FatalError | typeof UsageError;
  readonly code: string;
  readonly says: (address: string, action: Action, name: string) => string;
  readonly hint: string;
  /** @default both */
  readonly when?: Action;
}

const missing: KnownFault = {
  Kind: UsageError,
  code: "input_not_found",
  says: (address) => `there is no object ${address}`,
  hint: "Check bucket and key.",
  when: "read",
};

const denied: KnownFault = {
  Kind: FatalError,
  code: "object_denied",
  // An answer to HEAD has no body that names the reason.
  says: (address, action, name) => `cannot ${action} ${address}: the store refuses it (${name})`,
  hint: "check the credentials, and the permission to read or write this object",
};

/** By the name of the SDK's error, else by the HTTP status. */
const faults: Readonly<Record<string, KnownFault>> = {
  Credentials: {
    Kind: UsageError,
    code: "object_credentials",
    says: (address, action) => `cannot ${action} ${address}: there are no AWS credentials`,
    hint: "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run where a role is attached",
  },
  Region: {
    Kind: UsageError,
    code: "object_region",
    says: (address, action) => `cannot ${action} ${address}: the region is unknown`,
    hint: "set AWS_REGION, or a region in the profile",
  },
  NoSuchBucket: {
    Kind: UsageError,
    code: "object_bucket",
    says: (address, action) => `cannot ${action} ${address}: there is no such bucket`,
    hint: "check the bucket's name, the account and AWS_ENDPOINT_URL_S3",
  },
  NoSuchKey: missing,
  "404": missing,
  "401": denied,
  "403": denied,
};

/** HTTP status of an error of the SDK; null if there was no answer. */
export function statusOf(error: unknown): number | null {
  return (error as SdkError | null)?.$metadata?.httpStatusCode ?? null;
}

export function objectFault(address: string, action: Action, error: unknown): ReputeError {
  const { name = "Error", code, message = "" } = (error ?? {}) as SdkError;
  const status = statusOf(error);
  // The SDK's error itself holds headers and the answer.
  const $metadata = status === null ? {} : { httpStatusCode: status };
  const cause = Object.assign(new Error(name), { $metadata });
  const known =
    (/credential/i.test(name) && faults["Credentials"]) ||
    (message.startsWith("Region is missing") && faults["Region"]) ||
    [name, String(status)].map((key) => faults[key]).find((fault) => fault !== undefined);
  if (known && (known.when ?? action) === action) {
    const { Kind, says, hint } = known;
    const reason = name === "Unknown" ? `HTTP ${status}` : name;
    return new Kind(known.code, says(address, action, reason), { cause, hint });
  }
  const isLate = name === "AbortError" || name === "TimeoutError";
  const silence = isLate ? "the store does not answer" : (code ?? name);
  const reason = status === null ? silence : `${name}, HTTP ${status}`;
  return new FatalError("object_store", `cannot ${action} ${address}: ${reason}`, {
    cause,
    hint: `check the network, AWS_ENDPOINT_URL_S3 and the store, then repeat the command, or ${continueRun}`,
  });
}
