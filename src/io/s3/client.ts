import type * as Sdk from "@aws-sdk/client-s3";
import type { Upload } from "@aws-sdk/lib-storage";
import { FatalError, ReputeError, UsageError, continueRun } from "../../core/errors.js";
import { loadDriver } from "../../core/load-driver.js";

/** The SDK and a client that uses its standard chain of credentials, region and endpoint. */
export interface ObjectStore {
  readonly sdk: typeof Sdk;
  readonly Upload: typeof Upload;
  readonly client: Sdk.S3Client;
}

/** Clients by their settings: each has connections, and credentials that it renews. */
const stores = new Map<string, Promise<ObjectStore>>();

function findStore(): Promise<ObjectStore> {
  const settings = Object.entries(process.env).filter(([name]) => name.startsWith("AWS_"));
  const key = JSON.stringify(settings);
  const store = stores.get(key) ?? loadStore();
  stores.set(key, store);
  return store;
}

async function loadStore(): Promise<ObjectStore> {
  const sdk = await loadDriver("@aws-sdk/client-s3", () => import("@aws-sdk/client-s3"));
  const { Upload } = await loadDriver("@aws-sdk/lib-storage", () => import("@aws-sdk/lib-storage"));
  const { env } = process;
  const endpoint = env["AWS_ENDPOINT_URL_S3"] ?? env["AWS_ENDPOINT_URL"];
  // Other stores ignore the region, but the signature needs one.
  const region =
    env["AWS_REGION"] ??
    env["AWS_DEFAULT_REGION"] ??
    (endpoint === undefined || env["AWS_PROFILE"] !== undefined ? undefined : "us-east-1");
  const client = new sdk.S3Client({
    ...(region === undefined ? {} : { region }),
    // Few other stores have a host name per bucket.
    forcePathStyle: endpoint !== undefined && !/\.amazonaws\.com/.test(endpoint),
    maxAttempts: 8,
    requestHandler: { connectionTimeout: 10_000, requestTimeout: 120_000 },
    // Checksums are given; older stores know no others.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  return { sdk, Upload, client };
}

export async function withStore<T>(
  address: string,
  action: "read" | "write",
  run: (store: ObjectStore) => Promise<T>,
): Promise<T> {
  // It would appear on stderr in every run, which cron mails.
  process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] ??= "true";
  const store = await findStore();
  try {
    return await run(store);
  } catch (error) {
    throw error instanceof ReputeError ? error : objectFault(address, action, error);
  }
}

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
  const isLate = name === "AbortError" || name === "TimeoutError";
  const silence = isLate ? "the store does not answer" : (code ?? name);
  const reason = status === null ? silence : `${name}, HTTP ${status}`;
  return new FatalError("object_store", `${cannot}: ${reason}`, {
    cause: causeOf(error),
    hint: `check the network, AWS_ENDPOINT_URL_S3 and the store, then repeat the command, or ${continueRun}`,
  });
}
