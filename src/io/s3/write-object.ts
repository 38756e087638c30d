import { createReadStream } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { FatalError, ReputeError, continueRun } from "../../core/errors.js";
import { hashFile } from "../../core/files/checksum.js";
import { objectAt } from "./address.js";
import { type ObjectStore, withStore } from "./client.js";
import { statusOf } from "./fault.js";
import { encoded, isMissing, type PinnedObject, pinObject, readObject } from "./read-object.js";

type ObjectContent =
  | { readonly path: string }
  | { readonly text: string; readonly type: "application/json" | "text/html; charset=utf-8" };

interface WriteOptions {
  /** ETag of the version that may be replaced; null if none may be. @default any */
  readonly replaces?: string | null | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes an object, which appears at once, with the content's size and CRC-32. Nothing stays of an
 * upload that fails.
 *
 * @returns its ETag; null if there is another version than may be replaced, which stays. One with the
 *   same content is taken for an upload whose answer was lost.
 */
export async function writeObject(
  address: string,
  content: ObjectContent,
  { replaces, signal }: WriteOptions = {},
): Promise<string | null> {
  return withStore(address, "write", async (store) => {
    const { bytes, crc } = await factsOf(content);
    // Some stores know no conditions; and with others, this saves sending the content in vain.
    const now = replaces === undefined ? undefined : await etagAt(address);
    const isFree = now === undefined || now === replaces;
    const send = (condition: object) =>
      upload(store, { ...objectAt(address), ...condition }, content, signal);
    const isWritten = isFree && (await writeIf(replaces, send));
    const stored = await findObject(address);
    const isSame = stored?.size === bytes && (stored.crc ?? (await crcOf(stored))) === encoded(crc);
    if (isWritten && !isSame) {
      const size = stored?.size ?? 0;
      const what = size === bytes ? "has other content" : `has ${size} bytes instead of ${bytes}`;
      throw new FatalError("object_differs", `${address} ${what} after the upload`, {
        hint: `check whether another program writes it, then ${continueRun}`,
      });
    }
    return isSame ? stored.etag : null;
  });
}

async function factsOf(content: ObjectContent): Promise<{ bytes: number; crc: number }> {
  if ("path" in content) return hashFile(content.path);
  return { bytes: Buffer.byteLength(content.text), crc: crc32(content.text) };
}

/** The CRC-32 of an object whose store does not tell it. */
async function crcOf(stored: PinnedObject): Promise<string> {
  let crc = 0;
  for await (const chunk of readObject(stored)) crc = crc32(chunk, crc);
  return encoded(crc);
}

/** Sends a small object at once, others in parts, whose checksums the store compares. */
async function upload(
  { sdk, Upload, client }: ObjectStore,
  to: { readonly Bucket: string; readonly Key: string },
  content: ObjectContent,
  signal: AbortSignal | undefined,
): Promise<void> {
  const body =
    "text" in content
      ? { ContentType: content.type, Body: Buffer.from(content.text) }
      : { Body: createReadStream(content.path) };
  const params = {
    ...to,
    ...body,
    ChecksumAlgorithm: "CRC32",
    ChecksumType: "FULL_OBJECT",
  } as const;
  // Unlike `Upload`, it ends requests when the signal aborts, and keeps the error of the upload.
  const send = (command: never): Promise<unknown> =>
    (command as unknown) instanceof sdk.AbortMultipartUploadCommand
      ? client.send(command).catch(() => undefined)
      : client.send(command, signal && { abortSignal: signal });
  const own = Object.create(client, { send: { value: send } }) as typeof client;
  await new Upload({ client: own, params, queueSize: 3, partSize: 8 * 1024 * 1024 }).done();
}

/** Times to repeat a conditional write that met another one. */
const maxConflicts = 5;

/**
 * Writes an object if it is still the version that may be replaced. A store that knows no conditions
 * (501) gets the write without one.
 *
 * @returns false if there is another version, or if the store no longer knows the upload: it may have
 *   been completed
 */
async function writeIf(
  replaces: string | null | undefined,
  write: (condition: object) => Promise<void>,
): Promise<boolean> {
  let condition: { IfMatch?: string; IfNoneMatch?: string } | null = null;
  if (replaces === null) condition = { IfNoneMatch: "*" };
  else if (replaces !== undefined) condition = { IfMatch: replaces };
  for (let conflicts = 0; ; conflicts++) {
    try {
      await write(condition ?? {});
      return true;
    } catch (error) {
      const status = statusOf(error);
      // S3 says NoSuchKey if the version to replace was removed.
      if (/^NoSuch(?:Upload|Key)$/.test((error as Error).name)) return false;
      if (condition !== null && status === 412) return false;
      if (condition !== null && status === 501) condition = null;
      else if (condition === null || status !== 409 || conflicts === maxConflicts) throw error;
      else await delay(50 * 2 ** conflicts);
    }
  }
}

async function findObject(address: string): Promise<PinnedObject | null> {
  return pinObject(address).catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  });
}

/** The ETag of an object; null if there is none, undefined if the store does not tell. */
export async function etagAt(address: string): Promise<string | null | undefined> {
  try {
    const found = await findObject(address);
    return found === null ? null : found.etag || undefined;
  } catch (error) {
    // Without the permission to list a bucket, this is also the answer for a missing object.
    if (error instanceof ReputeError && error.code === "object_denied") return undefined;
    throw error;
  }
}

export async function removeObject(address: string): Promise<void> {
  await withStore(address, "write", ({ sdk, client }) =>
    client.send(new sdk.DeleteObjectCommand(objectAt(address))),
  );
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
      const begun = new sdk.AbortMultipartUploadCommand({ ...at, UploadId });
      // Nobody sees it, and the store's rules remove it.
      await client.send(begun, within).catch(() => undefined);
    } catch (error) {
      // A store without multipart uploads.
      if (statusOf(error) !== 501) throw error;
    }
  });
}
