import { continueRun, FatalError, ReputeError, UsageError } from "../../core/errors.js";
import { loadDriver } from "../../core/load-driver.js";

/** The SDK and a client that uses its standard chain of credentials, region and endpoint. */
export type ObjectStore = Awaited<ReturnType<typeof loadStore>>;

/** Clients by their settings: each has connections, and credentials that it renews. */
const stores = new Map<string, Promise<ObjectStore>>();

async function loadStore() {
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

type Action = "read" | "write";

export async function withStore<T>(
  address: string,
  action: Action,
  run: (store: ObjectStore) => Promise<T>,
): Promise<T> {
  // It would appear on stderr in every run, which cron mails.
  process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] ??= "true";
  const settings = Object.entries(process.env).filter(([name]) => name.startsWith("AWS_"));
  const key = JSON.stringify(settings);
  const opening = stores.get(key) ?? loadStore();
  stores.set(key, opening);
  const store = await opening;
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
  readonly message?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** The reason is of the store; a missing object has a message of its own. */
type StoreFault = readonly [code: string, why: string, hint: string, Kind?: typeof UsageError];

const denied: StoreFault = [
  "object_denied",
  "the store refuses it",
  "check the credentials, and the permission to read or write this object",
];

/** By the name of the SDK's error, else by the HTTP status. */
const faults: Readonly<Record<string, StoreFault>> = {
  Credentials: [
    "object_credentials",
    "there are no AWS credentials",
    "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run where a role is attached",
    UsageError,
  ],
  Region: [
    "object_region",
    "the region is unknown",
    "set AWS_REGION, or a region in the profile",
    UsageError,
  ],
  NoSuchBucket: [
    "object_bucket",
    "there is no such bucket",
    "check the bucket's name, the account and AWS_ENDPOINT_URL_S3",
    UsageError,
  ],
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
    const [code, why, hint, Kind = FatalError] = known;
    return new Kind(code, `cannot ${action} ${address}: ${why}${reason}`, { cause, hint });
  }
  const isLate = name === "AbortError" || name === "TimeoutError";
  const silence = isLate ? "the store does not answer" : (code ?? name);
  const reason = status === null ? silence : `${name}, HTTP ${status}`;
  return new FatalError("object_store", `cannot ${action} ${address}: ${reason}`, {
    cause,
    hint: `check the network, AWS_ENDPOINT_URL_S3 and the store, then repeat the command, or ${continueRun}`,
  });
}
