import { createWriteStream } from "node:fs";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { ReputeError } from "../core/errors.js";
import { parseObjectAddress } from "./address.js";
import { type ObjectStore, withStore } from "./client.js";
import { objectChanged, objectFault, statusOf } from "./fault.js";

/** A version of an object. */
export interface PinnedObject {
  readonly address: string;
  readonly etag: string;
  readonly size: number;
}

/** Finds an object's current version. @throws ReputeError */
export function pinObject(address: string): Promise<PinnedObject> {
  const { bucket, key } = parseObjectAddress(address);
  return withStore(address, "read", async ({ sdk, client }) => {
    const head = await client.send(new sdk.HeadObjectCommand({ Bucket: bucket, Key: key }));
    return { address, etag: head.ETag ?? "", size: head.ContentLength ?? 0 };
  });
}

/** Requests in a row that may bring no byte. */
const maxFailures = 6;

/**
 * Reads a version of an object. After a lost connection, continues where it was.
 *
 * @throws FatalError `input_changed` if there is another version now, `object_*`
 */
export async function* readObject(
  { address, etag, size }: PinnedObject,
  start = 0,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  const { bucket, key } = parseObjectAddress(address);
  let at = start;
  const open = ({ sdk, client }: ObjectStore) =>
    client.send(
      new sdk.GetObjectCommand({
        Bucket: bucket,
        Key: key,
        Range: `bytes=${at}-`,
        ...(etag === "" ? {} : { IfMatch: etag }),
      }),
      signal === undefined ? {} : { abortSignal: signal },
    );
  for (let failures = 0; at < size;) {
    const { Body } = await withStore(address, "read", open).catch((error: unknown) => {
      const { cause } = error as Error;
      throw statusOf(cause) === 412 ? objectChanged(address) : error;
    });
    const before = at;
    try {
      for await (const chunk of Body as Readable) {
        at += (chunk as Buffer).length;
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
}

/** Copies an object to a file. @throws ReputeError */
export async function downloadObject(address: string, path: string): Promise<void> {
  const pinned = await pinObject(address);
  await pipeline(readObject(pinned), createWriteStream(path));
}

/** Whether an object could not be read because there is none. */
export function isMissing(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === "input_not_found";
}
