import { continueRun, FatalError, type ReputeError, UsageError } from "../../core/errors.js";

/** Members of the SDK's errors. Messages of a service are not shown: they may echo a credential. */
interface SdkError {
  readonly name?: string;
  readonly code?: string;
  readonly message?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

type Action = "read" | "write";

interface StoreFault {
  readonly Kind: typeof FatalError | typeof UsageError;
  readonly code: string;
  /** Why the store refuses; a missing object has a message of its own. */
  readonly why: string;
  readonly hint: string;
}

const denied: StoreFault = {
  Kind: FatalError,
  code: "object_denied",
  why: "the store refuses it",
  hint: "check the credentials, and the permission to read or write this object",
};

/** By the name of the SDK's error, else by the HTTP status. */
const faults: Readonly<Record<string, StoreFault>> = {
  Credentials: {
    Kind: UsageError,
    code: "object_credentials",
    why: "there are no AWS credentials",
    hint: "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run where a role is attached",
  },
  Region: {
    Kind: UsageError,
    code: "object_region",
    why: "the region is unknown",
    hint: "set AWS_REGION, or a region in the profile",
  },
  NoSuchBucket: {
    Kind: UsageError,
    code: "object_bucket",
    why: "there is no such bucket",
    hint: "check the bucket's name, the account and AWS_ENDPOINT_URL_S3",
  },
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
  if (action === "read" && status === 404 && name !== "NoSuchBucket") {
    const hint = "Check bucket and key.";
    return new UsageError("input_not_found", `there is no object ${address}`, { cause, hint });
  }
  const known =
    (/credential/i.test(name) && faults["Credentials"]) ||
    (message.startsWith("Region is missing") && faults["Region"]) ||
    (faults[name] ?? faults[String(status)]);
  if (known !== undefined) {
    // An answer to HEAD has no body that names the reason.
    const reason = known === denied ? ` (${name === "Unknown" ? `HTTP ${status}` : name})` : "";
    const said = `cannot ${action} ${address}: ${known.why}${reason}`;
    return new known.Kind(known.code, said, { cause, hint: known.hint });
  }
  const isLate = name === "AbortError" || name === "TimeoutError";
  const silence = isLate ? "the store does not answer" : (code ?? name);
  const reason = status === null ? silence : `${name}, HTTP ${status}`;
  return new FatalError("object_store", `cannot ${action} ${address}: ${reason}`, {
    cause,
    hint: `check the network, AWS_ENDPOINT_URL_S3 and the store, then repeat the command, or ${continueRun}`,
  });
}
