import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { readJsonFile } from "../core/files/json-file.js";
import { isMissing } from "../s3/read-object.js";
import {
  type CopiedObject,
  type CopiedObjects,
  downloadObject,
} from "../outputs/download-object.js";
import type { Manifest } from "../run/types.js";
import { manifestPath } from "../run/destination/check-paths.js";

/** A temporary copy of an output in object storage. */
export interface LocalCopy {
  readonly path: string;
  /** The files of a data set, by their addresses. */
  readonly parts: CopiedObjects;
  remove(): Promise<void>;
}

/** Downloads an output with its manifest. @throws ReputeError */
export async function copyOutput(address: string): Promise<LocalCopy> {
  const folder = await mkdtemp(join(tmpdir(), "repute-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const parts = new Map<string, CopiedObject>();
    const isSet = address.endsWith("/");
    const path = isSet ? `${folder}/` : join(folder, basename(address));
    await downloadObject(manifestPath(address), manifestPath(path)).catch((error: unknown) => {
      if (isSet || !isMissing(error)) throw error;
    });
    if (!isSet) await downloadObject(address, path);
    else {
      const manifest = (await readJsonFile(manifestPath(path))) as Partial<Manifest> | null;
      for (const { name } of manifest?.output?.parts ?? []) {
        const [from, to] = [address + basename(name), path + basename(name)];
        parts.set(from, { path: to, version: await downloadObject(from, to) });
      }
    }
    return { path, parts, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
