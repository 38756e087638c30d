import { basename, join } from "node:path";
import { isObjectAddress, parseObjectAddress } from "../s3/address.js";
import { stagingFolder } from "../s3/staging-folder.js";

/** An output that is written to a folder first and uploaded from there. */
export interface StagedOutput {
  /** Where it is written, with the name of the object. */
  readonly path: string;
  readonly folder: string;
}

/** An address and where its object is written first. */
export interface PlacedOutput extends StagedOutput {
  readonly address: string;
}

/**
 * Where the output of an object's address is written before its upload; null for any other name.
 *
 * @throws UsageError `bad_object_address`
 */
export function stagedOutput(output: string): StagedOutput | null {
  if (!isObjectAddress(output)) return null;
  const { key } = parseObjectAddress(output);
  const folder = stagingFolder(output);
  return { folder, path: join(folder, basename(key)) + (key.endsWith("/") ? "/" : "") };
}

/** The path that an output is written to: its own, or that of the file that is uploaded. */
export function localPath(output: string): string {
  return stagedOutput(output)?.path ?? output;
}

/** File that keeps the progress of an upload. */
export function uploadJournal(folder: string): string {
  return join(folder, "upload.json");
}
