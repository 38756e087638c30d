import { createHash } from "node:crypto";
import { basename, resolve } from "node:path";
import { objectAddress, parseObjectAddress } from "./address.js";

/**
 * The folder in the working directory for the files of an address.
 *
 * @throws UsageError `bad_object_address`
 */
export function stagingFolder(address: string): string {
  const { bucket, key } = parseObjectAddress(address);
  const hash = createHash("sha256").update(objectAddress({ bucket, key })).digest("hex");
  const word = `${bucket}-${basename(key)}`.replaceAll(/[^A-Za-z0-9._-]+/g, "_").slice(0, 80);
  return resolve(`repute-s3-${word}-${hash.slice(0, 8)}`);
}
