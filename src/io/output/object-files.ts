import { createHash } from "node:crypto";
import { basename, join, resolve } from "node:path";
import { isObjectAddress, objectAddress, parseObjectAddress } from "../object/address.js";

export interface ObjectFile {
  readonly address: string;
  readonly path: string;
  readonly folder: string;
}

/**
 * The file of an object's address; null for any other name.
 *
 * @param pattern the address with the words that stand for a run, which names the folder of all runs
 */
export function objectFile(address: string, pattern = address): ObjectFile | null {
  if (!isObjectAddress(address)) return null;
  const { key } = parseObjectAddress(address);
  const folder = objectFolder(pattern);
  return { address, folder, path: join(folder, basename(key)) };
}

/** The path that an output is written to: its own, or that of the file that is uploaded. */
export function localPath(output: string): string {
  return objectFile(output)?.path ?? output;
}

function objectFolder(address: string): string {
  const { bucket, key } = parseObjectAddress(address);
  const hash = createHash("sha256").update(objectAddress({ bucket, key })).digest("hex");
  const word = `${bucket}-${basename(key)}`.replaceAll(/[^A-Za-z0-9._-]+/g, "_").slice(0, 80);
  return resolve(`repute-s3-${word}-${hash.slice(0, 8)}`);
}
