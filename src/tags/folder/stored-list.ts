import { open } from "node:fs/promises";
import { type AddressList, isAscending } from "../address/address-list.js";
import { bytesOf, readFully } from "../address/list-bytes.js";
import { writeFile } from "./write-file.js";

/** Where a generation keeps its lists for the next export's difference, whatever the formats are. */
export const listsFolder = ".lists";

/** Name of a tag's list there. */
export function storedListName(stem: string): string {
  return `${stem}.bin`;
}

/** Keeps a list as it is in memory: 4 and 16 bytes an address. */
export async function storeList(path: string, list: AddressList): Promise<void> {
  await writeFile(path, [bytesOf(list.v4), bytesOf(list.v6)]);
}

/**
 * Reads a list back.
 *
 * @returns null when there is none, or what is there cannot be this list
 */
export async function loadList(
  path: string,
  { ipv4, ipv6 }: { readonly ipv4: number; readonly ipv6: number },
): Promise<AddressList | null> {
  const handle = await open(path).catch(() => null);
  if (handle === null) return null;
  try {
    if ((await handle.stat()).size !== ipv4 * 4 + ipv6 * 16) return null;
    const list = { v4: new Uint32Array(ipv4), v6: new Uint32Array(ipv6 * 4) };
    const whole =
      (await readFully(handle, bytesOf(list.v4), 0)) &&
      (await readFully(handle, bytesOf(list.v6), ipv4 * 4));
    return whole && isAscending(list) ? list : null;
  } catch {
    return null;
  } finally {
    await handle.close();
  }
}
