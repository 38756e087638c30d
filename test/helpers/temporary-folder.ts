import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, onTestFinished } from "vitest";

/** A temporary folder for one test, removed when the test ends. */
export async function temporaryFolder(parent = tmpdir()): Promise<string> {
  const folder = await mkdtemp(join(parent, "repute-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Fills a folder once for the tests of a file; each call copies it for one test. */
export function copiedFolder(fill: (folder: string) => Promise<unknown>): () => Promise<string> {
  let filled: string;
  beforeAll(async () => {
    filled = await mkdtemp(join(tmpdir(), "repute-test-"));
    await fill(filled);
    return () => rm(filled, { recursive: true, force: true });
  });
  return async () => {
    const copy = await temporaryFolder();
    await cp(filled, copy, { recursive: true });
    return copy;
  };
}
