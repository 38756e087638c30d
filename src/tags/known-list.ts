import type { TagIps } from "../api/schema/tag-ips.js";
import { type AddressList, sizeOf } from "./address/address-list.js";
import { difference } from "./address/difference.js";
import type { ReadAddresses } from "./address/read-entries.js";
import { sortAddresses } from "./address/sort-addresses.js";
import type { ExportFolder } from "./folder/export-folder.js";
import type { ExportedTag } from "./folder/export-index.js";
import { listsFolder, loadList, storedListName } from "./folder/stored-list.js";

/**
 * Whether the folder has the list whose first page this is: the snapshot fixes it. That the page's
 * addresses are in it guards against a service that uses a token again.
 */
export async function isKnown(
  first: TagIps,
  addresses: ReadAddresses,
  before: ExportedTag,
  folder: ExportFolder,
): Promise<boolean> {
  if (first.snapshot !== before.snapshot) return false;
  if (first.lastUpdate !== before.lastUpdate || first.total !== before.total) return false;
  const list = await listOf(before, folder);
  if (list === null || sizeOf(list) !== first.total) return false;
  const page = sortAddresses(addresses.v4.slice(), addresses.v6.slice());
  return sizeOf(difference(page, list)) === 0;
}

/** The addresses that the folder has of a tag; null when they cannot be read. */
export function listOf(tag: ExportedTag, folder: ExportFolder): Promise<AddressList | null> {
  return loadList(folder.pathInCurrent(listsFolder, storedListName(tag.stem)), tag);
}
