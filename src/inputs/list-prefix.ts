import { withBucketSlash } from "../s3/address.js";
import { listObjects } from "../s3/list-objects.js";
import { readText } from "../s3/read-object.js";
import type { InputFolder } from "./types.js";

/** Lists the objects in a bucket, or under an address that ends in `/`, as a folder. @throws ReputeError */
export async function openPrefix(name: string): Promise<InputFolder> {
  const address = withBucketSlash(name);
  const names = await listObjects(address, "folder");
  return {
    name: address,
    // Some programs mark a folder with an empty object of its name.
    entries: names.filter((name) => name !== ""),
    pathOf: (entry) => address + entry,
    isFile: (entry) => Promise.resolve(!entry.endsWith("/")),
    read: async (path) => JSON.parse((await readText(path)) ?? "null"),
  };
}
