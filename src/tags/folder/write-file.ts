import * as fs from "node:fs/promises";
import { createHash } from "node:crypto";
import { exportFault } from "../faults.js";
import { readFile } from "node:fs/promises";
import { type AddressList, bytesOf, isAscending } from "../address/address-list.js";

interface WrittenFile {
  readonly bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

/** Writes a new file piece by piece. Durable once resolved. */
export async function writeFile(
  path: string,
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<WrittenFile> {
  const hash = createHash("sha256");
  let bytes = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      hash.update(piece);
      bytes += piece.length;
      yield piece;
    }
  }
  try {
    await fs.writeFile(path, counted(), { flag: "wx", flush: true });
  } catch (error) {
    throw exportFault(path, error);
  }
  return { bytes, sha256: hash.digest("hex") };
}

/** Folder in a generation with binary lists, against which the next export computes differences. */
export const listsFolder = ".lists";

/** File name of a tag's list there. */
export function storedListName(stem: string): string {
  return `${stem}.bin`;
}

/** Stores a list in its in-memory form: 4 and 16 bytes per address. */
export async function storeList(path: string, list: AddressList): Promise<void> {
  await writeFile(path, [bytesOf(list.v4), bytesOf(list.v6)]);
}

/**
 * Loads a stored list.
 *
 * @returns null if there is none, or it does not match the counts
 */
export async function loadList(
  path: string,
  { ipv4, ipv6 }: { readonly ipv4: number; readonly ipv6: number },
): Promise<AddressList | null> {
  const bytes = await readFile(path).catch(() => null);
  if (bytes?.length !== ipv4 * 4 + ipv6 * 16) return null;
  const words = new Uint32Array(new Uint8Array(bytes).buffer);
  const list = { v4: words.subarray(0, ipv4), v6: words.subarray(ipv4) };
  return isAscending(list) ? list : null;
}
