import { open } from "node:fs/promises";

/**
 * Makes the names in a folder durable: new files, renames. Some file systems refuse, and then they
 * are as durable as can be.
 */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, "r").catch(() => null);
  if (handle === null) return;
  await handle.sync().catch(() => undefined);
  await handle.close();
}
