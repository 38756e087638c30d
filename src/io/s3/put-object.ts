import { setTimeout as delay } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { objectAt } from "./address.js";
import { type ObjectStore, statusOf, withStore } from "./client.js";
import { encoded } from "./file-bytes.js";

interface PutOptions {
  readonly contentType?: string;
  readonly onlyNew?: boolean;
}

/**
 * Writes a small object.
 *
 * @returns false if there is one already
 */
export async function putObject(
  address: string,
  content: string,
  { contentType, onlyNew = false }: PutOptions = {},
): Promise<boolean> {
  const type = contentType === undefined ? {} : { ContentType: contentType };
  return withStore(address, "write", (store) =>
    writeIf(onlyNew ? null : undefined, (condition) =>
      putBytes(store, address, Buffer.from(content), { ...type, ...condition }),
    ),
  );
}

export async function putPage(address: string, html: string): Promise<void> {
  await putObject(address, html, { contentType: "text/html; charset=utf-8" });
}

export async function putBytes(
  { sdk, client }: ObjectStore,
  address: string,
  Body: Buffer,
  more: WriteCondition & { readonly ContentType?: string },
  signal?: AbortSignal,
): Promise<void> {
  const ChecksumCRC32 = encoded(crc32(Body));
  await client.send(
    new sdk.PutObjectCommand({ ...objectAt(address), Body, ChecksumCRC32, ...more }),
    signal && { abortSignal: signal },
  );
}

export interface WriteCondition {
  readonly IfMatch?: string;
  readonly IfNoneMatch?: string;
}

/** Times to repeat a conditional write that met another one. */
const maxConflicts = 5;

/**
 * Writes an object if it is still the version that may be replaced. A store that knows no conditions
 * (501) gets the write without one.
 *
 * @param replaces ETag of that version; null if there must be none; undefined for any
 * @returns false if there is another version
 */
export async function writeIf(
  replaces: string | null | undefined,
  write: (condition: WriteCondition) => Promise<unknown>,
): Promise<boolean> {
  let condition: WriteCondition | null =
    replaces === undefined
      ? null
      : replaces === null
        ? { IfNoneMatch: "*" }
        : { IfMatch: replaces };
  for (let conflicts = 0; ; conflicts++) {
    try {
      await write(condition ?? {});
      return true;
    } catch (error) {
      const status = statusOf(error);
      if (condition === null) throw error;
      if (status === 501) condition = null;
      // S3 says so if the version to replace was removed.
      else if (status === 412 || (error as Error).name === "NoSuchKey") return false;
      else if (status !== 409) throw error;
      else if (conflicts === maxConflicts) return false;
      else await delay(50 * 2 ** conflicts);
    }
  }
}

/** How long a store may take to answer, in milliseconds. */
const patienceMs = 20_000;

/**
 * Checks that an object can be written, without writing it: begins a multipart upload, which needs
 * the same permission, and gives it up.
 *
 * @throws UsageError `object_credentials`, `object_region`, `object_bucket`; FatalError
 *   `object_denied`, `object_store`
 */
export async function checkObjectWritable(address: string): Promise<void> {
  const at = objectAt(address);
  await withStore(address, "write", async ({ sdk, client }) => {
    const within = { abortSignal: AbortSignal.timeout(patienceMs) };
    try {
      const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand(at), within);
      const upload = new sdk.AbortMultipartUploadCommand({ ...at, UploadId });
      // Nobody sees it, and the store's rules remove it.
      await client.send(upload, within).catch(() => undefined);
    } catch (error) {
      if (statusOf(error) !== notImplemented) throw error;
    }
  });
}

const notImplemented = 501;
