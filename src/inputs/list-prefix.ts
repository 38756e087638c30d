import { listObjects } from "../objects/list-objects.js";
import { readText } from "../objects/read-object.js";
import type { InputFolder } from "./list-inputs.js";

/** Lists the objects under an address that ends in `/`, as a folder. @throws ReputeError */
export async function openPrefix(address: string): Promise<InputFolder> {
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
