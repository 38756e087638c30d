import { isObjectAddress } from "../../s3/address.js";
import { localWork, type WorkFolder } from "./work-folder.js";

/** Opens the work folder of that name, a path or `s3://BUCKET/KEY`. @throws UsageError `bad_object_address` */
export async function openWork(name: string): Promise<WorkFolder> {
  if (!isObjectAddress(name)) return localWork(name);
  return (await import("./object-work.js")).objectWork(name);
}
