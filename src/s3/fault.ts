import { FatalError, type ReputeError, UsageError } from "../core/errors.js";
import { startAnew } from "../core/error-codes/remedies.js";

/** Members of the SDK's errors. Messages of a service are not shown: they may echo a credential. */
interface SdkError {
  readonly name?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** HTTP status of an error of the SDK; null if there was no answer. */
export function statusOf(error: unknown): number | null {
  return (error as SdkError | null)?.$metadata?.httpStatusCode ?? null;
}

/** What other code needs of an error of the SDK, which itself holds headers and the answer. */
function causeOf(error: unknown): Error {
  const { name = "Error", $metadata = {} } = (error ?? {}) as SdkError;
  const { httpStatusCode } = $metadata;
  return Object.assign(new Error(name), { $metadata: { httpStatusCode } });
}

export function objectFault(
  address: string,
  action: "read" | "write",
  error: unknown,
): ReputeError {
  const { name = "Error", code } = (error ?? {}) as SdkError;
  const status = statusOf(error);
  const cannot = `cannot ${action} ${address}`;
  const text = error instanceof Error ? error.message : "";
  if (name === "CredentialsProviderError" || /credential/i.test(name)) {
    return new UsageError("object_credentials", `${cannot}: there are no AWS credentials`, {
      hint: "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run where a role is attached",
    });
  }
  if (text.startsWith("Region is missing")) {
    return new UsageError("object_region", `${cannot}: the region is unknown`, {
      hint: "set AWS_REGION, or a region in the profile",
    });
  }
  if (name === "NoSuchBucket") {
    return new UsageError("object_bucket", `${cannot}: there is no such bucket`, {
      hint: "check the bucket's name, the account and AWS_ENDPOINT_URL_S3",
    });
  }
  if (action === "read" && (status === 404 || name === "NoSuchKey")) {
    return new UsageError("input_not_found", `there is no object ${address}`, {
      cause: causeOf(error),
      hint: "Check bucket and key.",
    });
  }
  if (status === 401 || status === 403) {
    // An answer to HEAD has no body that names the reason.
    const why = name === "Unknown" ? `HTTP ${status}` : name;
    return new FatalError("object_denied", `${cannot}: the store refuses it (${why})`, {
      cause: causeOf(error),
      hint: `check the credentials, and the permission to ${action} this object`,
    });
  }
  const reason = status === null ? (code ?? name) : `${name}, HTTP ${status}`;
  return new FatalError("object_store", `${cannot}: ${reason}`, {
    cause: causeOf(error),
    hint: "check the network, AWS_ENDPOINT_URL_S3 and the store, then repeat the command; a run continues with --resume",
  });
}

export function objectChanged(address: string): FatalError {
  return new FatalError("input_changed", `${address} was replaced while it was read`, {
    hint: startAnew,
  });
}
