import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { manifestPath } from "../../../core/files/output-names.js";
import { downloadObject } from "../download-object.js";
import { isObjectAddress } from "../../object/address.js";
import { isMissing } from "../../object/read-object.js";

/** An output on this machine: of one in object storage, a temporary copy, which is disposed of. */
export interface LocalOutput extends AsyncDisposable {
  readonly path: string;
  /** Of a copy: ETag of the object; empty if the store does not tell it. */
  readonly version?: string;
}

export async function localOutput(name: string): Promise<LocalOutput> {
  if (!isObjectAddress(name)) return { path: name, [Symbol.asyncDispose]: async () => undefined };
  const folder = await mkdtemp(join(tmpdir(), "repute-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const path = join(folder, basename(name));
    const version = await download(name, path);
    return { path, version, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** @returns the version of the object */
async function download(address: string, path: string): Promise<string> {
  await downloadObject(manifestPath(address), manifestPath(path)).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
  return (await downloadObject(address, path)).etag;
}
