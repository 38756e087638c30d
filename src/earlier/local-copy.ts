import { manifestPath } from "../core/files/output-names.js";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { isMissing } from "../s3/read-object.js";
import { downloadObject } from "../outputs/download-object.js";
import { findManifest } from "../run/finish/manifest.js";

/** A temporary copy of an output in object storage. */
export interface LocalCopy {
  readonly path: string;
  /** ETag of the object, of a data set that of its manifest; empty if the store does not tell it. */
  readonly version: string;
  remove(): Promise<void>;
}

/** Downloads an output with its manifest. @throws ReputeError */
export async function copyOutput(address: string): Promise<LocalCopy> {
  const folder = await mkdtemp(join(tmpdir(), "repute-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const isSet = address.endsWith("/");
    const path = isSet ? `${folder}/` : join(folder, basename(address));
    const note = await downloadObject(manifestPath(address), manifestPath(path)).catch(
      (error: unknown) => {
        if (isSet || !isMissing(error)) throw error;
        return null;
      },
    );
    let { etag: version = "" } = note ?? {};
    if (!isSet) version = (await downloadObject(address, path)).etag;
    else {
      const manifest = await findManifest(path);
      for (const { name } of manifest?.output?.parts ?? []) {
        await downloadObject(address + basename(name), path + basename(name));
      }
    }
    return { path, version, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
