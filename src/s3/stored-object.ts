import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { ReputeError } from "../core/errors.js";
import { parseObjectAddress } from "./address.js";
import type { ObjectStore } from "./client.js";
import { statusOf } from "./fault.js";
import { checksumOf, encoded, readBytes } from "./file-bytes.js";
import { isMissing, pinObject } from "./read-object.js";

/** Smallest part of an upload; S3 allows 10,000 of them. */
const minPartBytes = 8 * 1024 * 1024;
const maxParts = 10_000;

/** Size of the parts in which a file is uploaded; null for a file that is sent whole. */
export function partBytesOf(size: number): number | null {
  return size <= minPartBytes ? null : Math.max(minPartBytes, Math.ceil(size / maxParts));
}

/** An object, compared with a file. */
export interface StoredObject {
  readonly etag: string;
  readonly size: number;
  /** Whether its CRC-32 is that of the file; null if the store does not tell it. */
  readonly sameChecksum: boolean | null;
}

/** Compares an object with a file; null if there is none. @throws the error of the SDK */
export async function compareObject(
  { sdk, client }: ObjectStore,
  address: string,
  path: string,
): Promise<StoredObject | null> {
  const { bucket, key } = parseObjectAddress(address);
  const command = new sdk.HeadObjectCommand({ Bucket: bucket, Key: key, ChecksumMode: "ENABLED" });
  const head = await client.send(command).catch((error: unknown) => {
    if (statusOf(error) === 404) return null;
    throw error;
  });
  if (head === null) return null;
  const { ETag = "", ContentLength = 0, ChecksumCRC32, ChecksumType } = head;
  const tells = ChecksumCRC32 !== undefined && ChecksumType === "FULL_OBJECT";
  const sameChecksum = tells ? ChecksumCRC32 === encoded(await checksumOf(path)) : null;
  return { etag: ETag, size: ContentLength, sameChecksum };
}

/** Whether an object surely has the content of a file that was uploaded. */
export async function hasContent(stored: StoredObject | null, path: string): Promise<boolean> {
  if (stored === null || stored.size !== (await stat(path)).size) return false;
  return stored.sameChecksum ?? stored.etag === (await etagOfFile(path, stored.size));
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

/**
 * The ETag of an object; null if there is none, undefined if the store does not tell.
 *
 * @throws ReputeError
 */
export async function etagAt(address: string): Promise<string | null | undefined> {
  try {
    const { etag } = await pinObject(address);
    return etag === "" ? undefined : etag;
  } catch (error) {
    if (isMissing(error)) return null;
    // Without the permission to list a bucket, this is also the answer for a missing object.
    if (error instanceof ReputeError && error.code === "object_denied") return undefined;
    throw error;
  }
}
