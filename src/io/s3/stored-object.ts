import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { ReputeError } from "../../core/errors.js";
import { objectAt } from "./address.js";
import { withStore } from "./client.js";
import { checksumOf, encoded, readBytes } from "./file-bytes.js";
import { isMissing, type PinnedObject, pinObject } from "./read-object.js";

/** Smallest part of an upload; S3 allows 10,000 of them. */
const minPartBytes = 8 * 1024 * 1024;
const maxParts = 10_000;

/** Size of the parts in which a file is uploaded; null for a file that is sent whole. */
export function partBytesOf(size: number): number | null {
  return size <= minPartBytes ? null : Math.max(minPartBytes, Math.ceil(size / maxParts));
}

export async function findObject(address: string): Promise<PinnedObject | null> {
  return pinObject(address).catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  });
}

/** Whether an object has the CRC-32 of a file; null if the store does not tell it. */
export async function sameChecksum({ crc }: PinnedObject, path: string): Promise<boolean | null> {
  return crc === null ? null : crc === encoded(await checksumOf(path));
}

/** Whether an object surely has the content of a file that was uploaded. */
export async function hasContent(stored: PinnedObject | null, path: string): Promise<boolean> {
  if (stored === null || stored.size !== (await stat(path)).size) return false;
  const isSame = await sameChecksum(stored, path);
  return isSame ?? stored.etag === (await etagOfFile(path, stored.size));
}

/** The ETag that most stores give a file: its MD5, or that of the MD5s of its parts. */
async function etagOfFile(path: string, size: number): Promise<string> {
  const md5 = async (start: number, length: number) =>
    createHash("md5").update(await readBytes(path, start, length));
  const partBytes = partBytesOf(size);
  if (partBytes === null) return `"${(await md5(0, size)).digest("hex")}"`;
  const hash = createHash("md5");
  const count = Math.ceil(size / partBytes);
  for (let start = 0; start < size; start += partBytes) {
    hash.update((await md5(start, Math.min(partBytes, size - start))).digest());
  }
  return `"${hash.digest("hex")}-${count}"`;
}

/** The ETag of an object; null if there is none, undefined if the store does not tell. */
export async function etagAt(address: string): Promise<string | null | undefined> {
  try {
    const found = await findObject(address);
    return found?.etag === "" ? undefined : (found?.etag ?? null);
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
