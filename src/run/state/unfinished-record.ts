import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readJsonFile } from "../../core/files/json-file.js";
import { type Manifest, manifestSchema } from "../../core/manifest/manifest.js";
import { recordName } from "./read-checkpoint.js";

/** Saves the manifest of an unfinished run in its state folder. Nothing relies on it, so failures are ignored. */
export async function saveUnfinished(folder: string, record: Manifest): Promise<void> {
  const path = join(folder, recordName);
  const fresh = `${path}.new`;
  try {
    await writeFile(fresh, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
    await rename(fresh, path);
  } catch {
    await rm(fresh, { force: true }).catch(() => undefined);
  }
}

/** The manifest of an unfinished run; null if there is none. */
export async function readUnfinished(folder: string): Promise<Manifest | null> {
  const found = await readJsonFile(join(folder, recordName)).catch(() => null);
  return manifestSchema.safeParse(found).data ?? null;
}
