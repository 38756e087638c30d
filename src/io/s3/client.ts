import type * as Sdk from "@aws-sdk/client-s3";
import type { Upload } from "@aws-sdk/lib-storage";
import { ReputeError } from "../../core/errors.js";
import { loadDriver } from "../../core/load-driver.js";
import { objectFault } from "./fault.js";

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
