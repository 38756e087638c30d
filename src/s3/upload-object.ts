import { createHash } from "node:crypto";
import { rm, stat } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { FatalError } from "../core/errors.js";
import { writeJsonFile } from "../core/files/json-file.js";
import { parseObjectAddress } from "./address.js";
import { type ObjectStore, withStore } from "./client.js";
import { statusOf } from "./fault.js";
import { checksumOf, encoded, readBytes } from "./file-bytes.js";
import { type UploadJournal, readUploadJournal } from "./upload-journal.js";

/** Smallest part; S3 allows 10,000 of them. */
const minPartBytes = 8 * 1024 * 1024;
const maxParts = 10_000;

/** Parts sent at a time. */
const parallel = 3;

export interface UploadOptions {
  /** Local file. */
  readonly path: string;
  readonly address: string;
  /** File that keeps the progress of a multipart upload. */
  readonly journal: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Uploads a file. The object appears at once, with the file's size and CRC-32, which the store
 * checks. An interrupted upload continues with the parts that are missing.
 *
 * @throws FatalError `object_*`; the object is then as before
 */
export async function uploadObject(options: UploadOptions): Promise<void> {
  const { path, address } = options;
  await withStore(address, "write", async (store) => {
    const { size } = await stat(path);
    if (size <= minPartBytes) await putWhole(store, options, size);
    else await putParts(store, options, await openUpload(store, options, size));
    await verify(store, options, size);
  });
  await rm(options.journal, { force: true });
}

/** Removes the parts of an upload that will not be continued. */
export async function abortUpload(journal: string): Promise<void> {
  const found = await readUploadJournal(journal);
  if (found !== null) await withStore(found.address, "write", (store) => abort(store, found));
  await rm(journal, { force: true });
}

async function putWhole(
  { sdk, client }: ObjectStore,
  { path, address, signal }: UploadOptions,
  size: number,
): Promise<void> {
  const { bucket, key } = parseObjectAddress(address);
  const Body = await readBytes(path, 0, size);
  await client.send(
    new sdk.PutObjectCommand({
      Bucket: bucket,
      Key: key,
      Body,
      ContentLength: size,
      ChecksumCRC32: encoded(crc32(Body)),
    }),
    signal === undefined ? {} : { abortSignal: signal },
  );
}

/** Sends the parts that the store does not have, and completes the upload. */
async function putParts(
  store: ObjectStore,
  options: UploadOptions,
  { journal, isContinued }: { readonly journal: UploadJournal; readonly isContinued: boolean },
): Promise<void> {
  try {
    await sendParts(store, options, journal);
    await complete(store, options.address, journal);
  } catch (error) {
    if (statusOf(error) !== 404) throw error;
    // The store has completed the upload, but the program was killed or the answer was lost.
    if (await isComplete(store, options.address, journal)) return;
    // The store has removed the upload.
    if (!isContinued) throw error;
    await rm(options.journal, { force: true });
    await putParts(store, options, await openUpload(store, options, journal.size));
  }
}

async function sendParts(
  { sdk, client }: ObjectStore,
  options: UploadOptions,
  journal: UploadJournal,
): Promise<void> {
  const { bucket, key } = parseObjectAddress(options.address);
  const { uploadId, partBytes, parts, size } = journal;
  const count = Math.ceil(size / partBytes);
  let next = 1;
  let saving = Promise.resolve();
  const work = async (): Promise<void> => {
    while (next <= count) {
      const number = next++;
      if (parts[number] !== undefined) continue;
      const start = (number - 1) * partBytes;
      const Body = await readBytes(options.path, start, Math.min(partBytes, size - start));
      const { ETag } = await client.send(
        new sdk.UploadPartCommand({
          Bucket: bucket,
          Key: key,
          UploadId: uploadId,
          PartNumber: number,
          Body,
          ContentLength: Body.length,
          ChecksumCRC32: encoded(crc32(Body)),
        }),
        options.signal === undefined ? {} : { abortSignal: options.signal },
      );
      parts[number] = ETag ?? "";
      // One at a time: they write the same file.
      saving = saving.then(() => writeJsonFile(options.journal, journal, 0o600));
      await saving;
    }
  };
  const results = await Promise.allSettled(Array.from({ length: parallel }, work));
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/** Makes the object of its parts. The store compares its size and checksum with the file's. */
async function complete(
  { sdk, client }: ObjectStore,
  address: string,
  { uploadId, parts, crc, size }: UploadJournal,
): Promise<void> {
  const { bucket, key } = parseObjectAddress(address);
  await client.send(
    new sdk.CompleteMultipartUploadCommand({
      Bucket: bucket,
      Key: key,
      UploadId: uploadId,
      ChecksumCRC32: encoded(crc),
      ChecksumType: "FULL_OBJECT",
      MpuObjectSize: size,
      MultipartUpload: {
        Parts: Object.entries(parts)
          .map(([number, ETag]) => ({ PartNumber: Number(number), ETag }))
          .sort((a, b) => a.PartNumber - b.PartNumber),
      },
    }),
  );
}

/** Whether the object is the one that an upload makes. */
async function isComplete(
  { sdk, client }: ObjectStore,
  address: string,
  { size, crc, partBytes, parts }: UploadJournal,
): Promise<boolean> {
  const { bucket, key } = parseObjectAddress(address);
  const count = Math.ceil(size / partBytes);
  if (Object.keys(parts).length < count) return false;
  const head = await client
    .send(new sdk.HeadObjectCommand({ Bucket: bucket, Key: key, ChecksumMode: "ENABLED" }))
    .catch(() => null);
  if (head?.ContentLength !== size) return false;
  const isWhole = head.ChecksumCRC32 !== undefined && head.ChecksumType === "FULL_OBJECT";
  if (isWhole) return head.ChecksumCRC32 === encoded(crc);
  // The MD5 of the parts' own ones, in most stores.
  const hash = createHash("md5");
  for (let number = 1; number <= count; number++) {
    hash.update(Buffer.from(parts[number]?.replaceAll('"', "") ?? "", "hex"));
  }
  return head.ETag === `"${hash.digest("hex")}-${count}"`;
}

/** Continues the upload in the journal if it is of the same file, else begins one. */
async function openUpload(
  store: ObjectStore,
  options: UploadOptions,
  size: number,
): Promise<{ readonly journal: UploadJournal; readonly isContinued: boolean }> {
  const { sdk, client } = store;
  const { bucket, key } = parseObjectAddress(options.address);
  const crc = await checksumOf(options.path);
  const found = await readUploadJournal(options.journal);
  if (found !== null) {
    const isSame = found.address === options.address && found.size === size && found.crc === crc;
    if (isSame) return { journal: found, isContinued: true };
    await abort(store, found);
  }
  const { UploadId = "" } = await client.send(
    new sdk.CreateMultipartUploadCommand({
      Bucket: bucket,
      Key: key,
      ChecksumAlgorithm: "CRC32",
      ChecksumType: "FULL_OBJECT",
    }),
  );
  const partBytes = Math.max(minPartBytes, Math.ceil(size / maxParts));
  const journal = {
    address: options.address,
    uploadId: UploadId,
    size,
    crc,
    partBytes,
    parts: {},
  };
  await writeJsonFile(options.journal, journal, 0o600);
  return { journal, isContinued: false };
}

async function abort({ sdk, client }: ObjectStore, found: UploadJournal): Promise<void> {
  const { bucket, key } = parseObjectAddress(found.address);
  const upload = { Bucket: bucket, Key: key, UploadId: found.uploadId };
  await client.send(new sdk.AbortMultipartUploadCommand(upload)).catch((error: unknown) => {
    if (statusOf(error) !== 404) throw error;
  });
}

/** Compares the object with the file: older stores check less. */
async function verify(
  { sdk, client }: ObjectStore,
  { path, address }: UploadOptions,
  size: number,
): Promise<void> {
  const { bucket, key } = parseObjectAddress(address);
  const head = await client.send(
    new sdk.HeadObjectCommand({ Bucket: bucket, Key: key, ChecksumMode: "ENABLED" }),
  );
  const isWhole = head.ChecksumCRC32 !== undefined && head.ChecksumType === "FULL_OBJECT";
  const isSame = !isWhole || head.ChecksumCRC32 === encoded(await checksumOf(path));
  if (head.ContentLength === size && isSame) return;
  const what = isSame ? `has ${head.ContentLength} bytes instead of ${size}` : "has other content";
  throw new FatalError("object_differs", `${address} ${what} after the upload`, {
    hint: "check whether another program writes it, then continue with --resume",
  });
}
