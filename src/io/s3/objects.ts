import { createReadStream } from "node:fs";
import { extname } from "node:path";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { continueRun, FatalError, ReputeError, startAnew, startOver } from "../../core/errors.js";
import { hashFile } from "../../core/files/checksum.js";
import { writeChunks } from "../../core/files/write-chunks.js";
import { parseObjectAddress } from "./address.js";
import { objectFault, type ObjectStore, statusOf, withStore } from "./client.js";

type PinnedObject = Awaited<ReturnType<typeof pinObject>>;

export function pinObject(address: string) {
  return withStore(address, "read", async ({ sdk, client }) => {
    const { ETag, ContentLength, ChecksumCRC32, ChecksumType } = await client.send(
      new sdk.HeadObjectCommand({ ...objectAt(address), ChecksumMode: "ENABLED" }),
    );
    // Of the whole object, if the store tells it.
    const crc = ChecksumType === "FULL_OBJECT" ? (ChecksumCRC32 ?? null) : null;
    return { address, etag: ETag ?? "", size: ContentLength ?? 0, crc };
  });
}

interface ObjectReading {
  readonly signal?: AbortSignal | undefined;
  /** Called with the bytes so far, of all. */
  readonly onBytes?: ((bytes: number, size: number) => void) | undefined;
}

/** Requests in a row that may bring no byte. */
const maxFailures = 6;

/**
 * Reads a version of an object. After a lost connection, asks for the rest. At the end, compares its
 * CRC-32.
 */
export async function* readObject(
  { address, etag, size, crc: expected }: PinnedObject,
  { signal, onBytes }: ObjectReading = {},
): AsyncGenerator<Buffer> {
  let at = 0;
  let crc = 0;
  for (let failures = 0; at < size;) {
    const { Body } = await withStore(address, "read", ({ sdk, client }) =>
      client.send(
        new sdk.GetObjectCommand({
          ...objectAt(address),
          ...(at > 0 && { Range: `bytes=${at}-` }),
          ...(etag !== "" && { IfMatch: etag }),
        }),
        signal && { abortSignal: signal },
      ),
    ).catch((error: unknown) => {
      if (statusOf((error as Error).cause) !== 412) throw error;
      throw new FatalError("input_changed", `${address} was replaced while it was read`, {
        hint: startAnew,
      });
    });
    const before = at;
    try {
      for await (const chunk of Body as Readable) {
        at += (chunk as Buffer).length;
        crc = crc32(chunk as Buffer, crc);
        onBytes?.(at, size);
        yield chunk as Buffer;
      }
      if (at < size) throw new Error("the connection ended early");
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ReputeError) throw error;
      failures = at > before ? 1 : failures + 1;
      if (failures >= maxFailures) throw objectFault(address, "read", error);
      await delay(100 * 2 ** failures);
    }
  }
  if (expected !== null && expected !== encoded(crc)) {
    const message = `${address} was damaged on its way: its CRC-32 differs from the store's`;
    throw new FatalError("object_damaged", message, { hint: startOver });
  }
}

/** Copies an object to a file. @returns the version that it copied. */
export async function downloadObject(
  address: string,
  path: string,
  reading: ObjectReading = {},
): Promise<PinnedObject> {
  const pinned = await pinObject(address);
  await writeChunks(path, readObject(pinned, reading)).catch((error: unknown) => {
    reading.signal?.throwIfAborted();
    throw error;
  });
  return pinned;
}

/** The text of an object; null if there is none. */
export async function readText(address: string): Promise<string | null> {
  for (;;) {
    try {
      return (await buffer(readObject(await pinObject(address)))).toString();
    } catch (error) {
      if (isMissing(error)) return null;
      const isReplaced = error instanceof FatalError && error.code === "input_changed";
      if (!isReplaced) throw error;
    }
  }
}

/**
 * Lists the keys that begin with the key of an address.
 *
 * @param within lists those without a further `/`, and the others as `FOLDER/`. Default all
 * @returns them without that beginning
 */
export async function listObjects(
  prefix: string,
  within: "folder" | "all" = "all",
): Promise<readonly string[]> {
  const { bucket, key } = parseObjectAddress(prefix, true);
  const query = { Bucket: bucket, Prefix: key, Delimiter: within === "all" ? undefined : "/" };
  return withStore(prefix, "read", async ({ sdk, client }) => {
    const names: string[] = [];
    for await (const page of sdk.paginateListObjectsV2({ client }, query)) {
      for (const { Key = "" } of page.Contents ?? []) names.push(Key.slice(key.length));
      for (const { Prefix = "" } of page.CommonPrefixes ?? []) names.push(Prefix.slice(key.length));
    }
    return names;
  });
}

/** An address as requests of the SDK name it. */
function objectAt(address: string): { readonly Bucket: string; readonly Key: string } {
  const { bucket, key } = parseObjectAddress(address);
  return { Bucket: bucket, Key: key };
}

export function isMissing(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === "input_not_found";
}

/** A CRC-32 as S3 writes it. */
function encoded(crc: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc);
  return bytes.toString("base64");
}

interface WriteOptions {
  /** ETag of the version that may be replaced; null if none may be. @default any */
  readonly replaces?: string | null | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes an object, which appears at once, with the size and CRC-32 of a file. Nothing stays of an
 * upload that fails.
 *
 * @param path of the file
 * @returns its ETag; null if there is another version than may be replaced, which stays. One with the
 *   same content is taken for an upload whose answer was lost.
 */
export async function writeObject(
  address: string,
  path: string,
  { replaces, signal }: WriteOptions = {},
): Promise<string | null> {
  return withStore(address, "write", async (store) => {
    const { bytes, crc } = await hashFile(path);
    // Some stores know no conditions; and with others, this saves sending the content in vain.
    const now = replaces === undefined ? undefined : await etagAt(address);
    const isFree = now === undefined || now === replaces;
    const send = (condition: object) =>
      upload(store, { ...objectAt(address), ...condition }, path, signal);
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

/** The CRC-32 of an object whose store does not tell it. */
async function crcOf(stored: PinnedObject): Promise<string> {
  let crc = 0;
  for await (const chunk of readObject(stored)) crc = crc32(chunk, crc);
  return encoded(crc);
}

/** What a browser must be told; others go by the name. */
const types: ReadonlyMap<string, string> = new Map([
  [".html", "text/html; charset=utf-8"],
  [".json", "application/json"],
]);

/** Sends a small object at once, others in parts, whose checksums the store compares. */
async function upload(
  { sdk, Upload, client }: ObjectStore,
  to: { readonly Bucket: string; readonly Key: string },
  path: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const type = types.get(extname(to.Key).toLowerCase());
  const params = {
    ...to,
    ...(type !== undefined && { ContentType: type }),
    Body: createReadStream(path),
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
  const condition = replaces === null ? { IfNoneMatch: "*" } : { IfMatch: replaces };
  try {
    await write(replaces === undefined ? {} : condition);
    return true;
  } catch (error) {
    // S3 says NoSuchKey if the version to replace was removed.
    if (/^NoSuch(?:Upload|Key)$/.test((error as Error).name)) return false;
    const status = replaces === undefined ? null : statusOf(error);
    if (status === 412) return false;
    if (status !== 501) throw error;
    return writeIf(undefined, write);
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
