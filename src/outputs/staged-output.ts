import { createHash } from "node:crypto";
import { basename, join, resolve } from "node:path";
import { isObjectAddress, objectAddress, parseObjectAddress } from "../objects/address.js";

/** An output that is written to a folder first and uploaded from there. */
export interface StagedOutput {
  /** Where it is written, with the name of the object. */
  readonly path: string;
  readonly folder: string;
}

/**
 * Where the output of an object's address is written before its upload; null for any other name.
 *
 * @throws UsageError `bad_object_address`
 */
export function stagedOutput(output: string): StagedOutput | null {
  if (!isObjectAddress(output)) return null;
  const { bucket, key } = parseObjectAddress(output);
  const hash = createHash("sha256").update(objectAddress({ bucket, key })).digest("hex");
  const name = basename(key);
  const word = `${bucket}-${name}`.replaceAll(/[^A-Za-z0-9._-]+/g, "_").slice(0, 80);
  const folder = resolve(`repute-s3-${word}-${hash.slice(0, 8)}`);
  return { folder, path: join(folder, name) + (key.endsWith("/") ? "/" : "") };
}

/** The path that an output is written to: its own, or that of the file that is uploaded. */
export function localPath(output: string): string {
  return stagedOutput(output)?.path ?? output;
}
