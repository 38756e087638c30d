import { readFile } from "node:fs/promises";
import { type AddressList, bytesOf, isAscending } from "../address/address-list.js";
import { writeFile } from "./write-file.js";

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
