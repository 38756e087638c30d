import { rm, stat } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { FatalError } from "../../core/errors.js";
import { readJsonFile, writeJsonFile } from "../../core/files/json-file.js";
import { objectAt } from "./address.js";
import { type ObjectStore, statusOf, withStore } from "./client.js";
import { checksumOf, encoded, readBytes } from "./file-bytes.js";
import { putBytes, type WriteCondition, writeIf } from "./put-object.js";
import { etagAt, findObject, hasContent, partBytesOf, sameChecksum } from "./stored-object.js";

const parallel = 3;

export interface UploadOptions {
  readonly path: string;
  readonly address: string;
  /** File that keeps the progress of a multipart upload. */
  readonly journal: string;
  /** ETag of the version that the file may replace; null if it must replace none. @default any */
  readonly replaces?: string | null | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Uploads a file. The object appears at once, with the file's size and CRC-32, which the store
 * checks. An interrupted upload continues with the parts that are missing.
 *
 * @returns its ETag; null if there is another version than it may replace, which stays. One with the
 *   same content is taken for an upload whose answer was lost.
 */
export async function uploadObject(options: UploadOptions): Promise<string | null> {
  const { path, address, journal, replaces } = options;
  return withStore(address, "write", async (store) => {
    const { size } = await stat(path);
    const partBytes = partBytesOf(size);
    const write = async (condition: WriteCondition): Promise<void> => {
      if (partBytes !== null) {
        return putParts(store, options, await openUpload(store, options, size), condition);
      }
      const bytes = await readBytes(path, 0, size);
      await putBytes(store, address, bytes, condition, options.signal);
    };
    // Some stores know no conditions; and with others, this saves sending the file in vain.
    const now = replaces === undefined ? undefined : await etagAt(address);
    const isFree = now === undefined || now === replaces;
    const isWritten = isFree && (await writeIf(replaces, write));
    const stored = await findObject(address);
    if (!isWritten) {
      await abortUpload(journal);
      return (await hasContent(stored, path)) ? (stored?.etag ?? null) : null;
    }
    // Older stores tell no checksum.
    if (stored?.size !== size || (await sameChecksum(stored, path)) === false) {
      throw differs(address, size, stored?.size ?? 0);
    }
    await rm(journal, { force: true });
    return stored.etag;
  });
}

export async function abortUpload(journal: string): Promise<void> {
  const found = await readJournal(journal);
  if (found !== null) await withStore(found.address, "write", (store) => abort(store, found));
  await rm(journal, { force: true });
}

/** Sends the parts that the store does not have, and completes the upload. */
async function putParts(
  store: ObjectStore,
  options: UploadOptions,
  { journal, isContinued }: { readonly journal: UploadJournal; readonly isContinued: boolean },
  condition: WriteCondition,
): Promise<void> {
  const { address, path } = options;
  try {
    await sendParts(store, options, journal);
    await complete(store, address, journal, condition);
  } catch (error) {
    if (statusOf(error) !== 404 || (error as Error).name === "NoSuchKey") throw error;
    // The store has completed the upload, but the program was killed or the answer was lost.
    if (await hasContent(await findObject(address), path)) return;
    // The store has removed the upload.
    if (!isContinued) throw error;
    await rm(options.journal, { force: true });
    await putParts(store, options, await openUpload(store, options, journal.size), condition);
  }
}

async function sendParts(
  { sdk, client }: ObjectStore,
  options: UploadOptions,
  journal: UploadJournal,
): Promise<void> {
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
          ...objectAt(options.address),
          UploadId: uploadId,
          PartNumber: number,
          Body,
          ContentLength: Body.length,
          ChecksumCRC32: encoded(crc32(Body)),
        }),
        options.signal && { abortSignal: options.signal },
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
  condition: WriteCondition,
): Promise<void> {
  await client.send(
    new sdk.CompleteMultipartUploadCommand({
      ...objectAt(address),
      UploadId: uploadId,
      ChecksumCRC32: encoded(crc),
      ChecksumType: "FULL_OBJECT",
      MpuObjectSize: size,
      ...condition,
      MultipartUpload: {
        Parts: Object.entries(parts)
          .map(([number, ETag]) => ({ PartNumber: Number(number), ETag }))
          .sort((a, b) => a.PartNumber - b.PartNumber),
      },
    }),
  );
}

interface UploadJournal {
  readonly address: string;
  readonly uploadId: string;
  readonly size: number;
  readonly crc: number;
  readonly partBytes: number;
  readonly parts: Record<string, string>;
}

async function readJournal(path: string): Promise<UploadJournal | null> {
  const found = (await readJsonFile(path).catch(() => null)) as Partial<UploadJournal> | null;
  const isJournal = typeof found?.uploadId === "string" && typeof found.parts === "object";
  return isJournal ? (found as UploadJournal) : null;
}

/** Continues the upload in the journal if it is of the same file, else begins one. */
async function openUpload(
  store: ObjectStore,
  options: UploadOptions,
  size: number,
): Promise<{ readonly journal: UploadJournal; readonly isContinued: boolean }> {
  const { sdk, client } = store;
  const crc = await checksumOf(options.path);
  const found = await readJournal(options.journal);
  if (found !== null) {
    const isSame = found.address === options.address && found.size === size && found.crc === crc;
    if (isSame) return { journal: found, isContinued: true };
    await abort(store, found);
  }
  const { UploadId = "" } = await client.send(
    new sdk.CreateMultipartUploadCommand({
      ...objectAt(options.address),
      ChecksumAlgorithm: "CRC32",
      ChecksumType: "FULL_OBJECT",
    }),
  );
  const { address } = options;
  const partBytes = partBytesOf(size) ?? size;
  const journal = { address, uploadId: UploadId, size, crc, partBytes, parts: {} };
  await writeJsonFile(options.journal, journal, 0o600);
  return { journal, isContinued: false };
}

async function abort({ sdk, client }: ObjectStore, found: UploadJournal): Promise<void> {
  const upload = { ...objectAt(found.address), UploadId: found.uploadId };
  await client.send(new sdk.AbortMultipartUploadCommand(upload)).catch((error: unknown) => {
    if (statusOf(error) !== 404) throw error;
  });
}

function differs(address: string, size: number, found: number): FatalError {
  const what = found === size ? "has other content" : `has ${found} bytes instead of ${size}`;
  return new FatalError("object_differs", `${address} ${what} after the upload`, {
    hint: "check whether another program writes it, then continue with --resume",
  });
}
