import { readJsonFile } from "../core/files/json-file.js";

/** Progress of a multipart upload. */
export interface UploadJournal {
  readonly address: string;
  readonly uploadId: string;
  readonly size: number;
  readonly crc: number;
  readonly partBytes: number;
  /** ETag of each part that the store has, by its number. */
  readonly parts: Record<string, string>;
}

/** The progress that a file holds; null if it holds none. */
export async function readUploadJournal(path: string): Promise<UploadJournal | null> {
  const found = (await readJsonFile(path).catch(() => null)) as Partial<UploadJournal> | null;
  const isJournal = typeof found?.uploadId === "string" && typeof found.parts === "object";
  return isJournal ? (found as UploadJournal) : null;
}
