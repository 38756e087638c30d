import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { ReputeError } from "../core/errors.js";
import { isMissing, type PinnedObject, pinObject, readObject } from "../s3/read-object.js";
import { outputFault } from "./output-fault.js";

/** A version of an object, and its copy. */
export interface CopiedObject {
  readonly path: string;
  readonly version: PinnedObject;
}

/** Copied objects, by their addresses. */
export type CopiedObjects = ReadonlyMap<string, CopiedObject>;

/** Copies an object to a file. @returns the version that it copied. @throws ReputeError */
export async function downloadObject(
  address: string,
  path: string,
  signal?: AbortSignal,
): Promise<PinnedObject> {
  const pinned = await pinObject(address);
  try {
    await pipeline(readObject(pinned, { signal }), createWriteStream(path, { mode: 0o600 }));
    return pinned;
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof ReputeError ? error : outputFault(path, error);
  }
}

/** Whether an object is the version that was copied, and a file has its content. @throws ReputeError */
export async function isStill({ path, version }: CopiedObject, file: string): Promise<boolean> {
  if (version.etag === "" || (await stat(file)).size !== version.size) return false;
  if ((await sha256Of(file)) !== (await sha256Of(path))) return false;
  try {
    return (await pinObject(version.address)).etag === version.etag;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
