import { withBucketSlash } from "../../s3/address.js";
import { listObjects } from "../../s3/list-objects.js";
import type { InputFolder } from "../types.js";

/**
 * Lists the objects in a bucket, or under an address that ends in `/`, as a folder.
 *
 * @param recursive lists those of its subfolders as well: one request for a thousand objects, not one
 *   for each folder
 * @throws ReputeError
 */
export async function openPrefix(name: string, recursive: boolean): Promise<InputFolder> {
  const address = withBucketSlash(name);
  return folderOf(address, await listObjects(address, recursive ? "all" : "folder"));
}

/** @param keys of its objects, without the address */
function folderOf(address: string, keys: readonly string[]): InputFolder {
  const within = new Map<string, string[]>();
  for (const key of keys) {
    const end = key.indexOf("/") + 1 || key.length;
    const entry = key.slice(0, end);
    const rest = within.get(entry);
    if (rest === undefined) within.set(entry, [key.slice(end)]);
    else rest.push(key.slice(end));
  }
  // Some programs mark a folder with an empty object of its name.
  within.delete("");
  const pathOf = (entry: string): string => address + entry;
  return {
    name: address,
    entries: [...within.keys()],
    pathOf,
    kindOf: () => Promise.resolve("file"),
    open: (entry) => Promise.resolve(folderOf(pathOf(entry), within.get(entry) ?? [])),
  };
}
