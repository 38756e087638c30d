import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { FatalError, ReputeError, startAnew, startOver } from "../../core/errors.js";
import { writeChunks } from "../../core/files/write-chunks.js";
import { objectAt, parseObjectAddress } from "./address.js";
import { withStore } from "./client.js";
import { objectFault, statusOf } from "./fault.js";

export interface PinnedObject {
  readonly address: string;
  readonly etag: string;
  readonly size: number;
  /** CRC-32 of the whole object as the store tells it; null if it does not. */
  readonly crc: string | null;
}

export function pinObject(address: string): Promise<PinnedObject> {
  return withStore(address, "read", async ({ sdk, client }) => {
    const { ETag, ContentLength, ChecksumCRC32, ChecksumType } = await client.send(
      new sdk.HeadObjectCommand({ ...objectAt(address), ChecksumMode: "ENABLED" }),
    );
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

export function isMissing(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === "input_not_found";
}

/** A CRC-32 as S3 writes it. */
export function encoded(crc: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc);
  return bytes.toString("base64");
}
