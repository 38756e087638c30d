import { createHash } from "node:crypto";
import {
  checkFiles,
  type ChunkResult,
  isFault,
  readChunkResult,
  resultName,
  chunkResultText,
} from "../chunks/chunk-result.js";
import type { WorkFolder } from "../chunks/work-folder.js";
import { chunkName, type PlannedChunk, type WorkPlan } from "../chunks/work-plan.js";
import type { ChunkCommit } from "./chunk-queue.js";

/**
 * Stores the result of an attempt under the attempt's own name. It counts once the queue has accepted
 * the commit, and the coordinator has published it.
 */
export async function storeResult(work: WorkFolder, result: ChunkResult): Promise<ChunkCommit> {
  const [chunk, attempt] = result.output.file.split(".");
  const key = `${chunk}.${attempt}.done.json`;
  const text = chunkResultText(result);
  await work.publish(key, text);
  return { key, sha256: hashOf(text), rows: result.rows };
}

/** A result in the work folder, and what a worker returns for it. */
interface Stored {
  readonly result: ChunkResult;
  readonly commit: ChunkCommit;
}

/** An intact result that is in the work folder already, published or not; null if there is none. */
export async function storedResult(
  work: WorkFolder,
  plan: WorkPlan,
  chunk: PlannedChunk,
): Promise<Stored | null> {
  const form = new RegExp(`^${chunkName(chunk.chunk)}\\.[0-9a-f]{8}\\.done\\.json$`);
  const names = (await work.list()).filter((name) => form.test(name)).sort();
  for (const key of [resultName(chunk.chunk), ...names]) {
    const result = await readChunkResult(work, plan, chunk, key);
    if (result === null || isFault(result) || (await checkFiles(work, result)) !== null) continue;
    const commit = { key, sha256: hashOf(chunkResultText(result)), rows: result.rows };
    return { result, commit };
  }
  return null;
}

/**
 * Publishes what a worker has committed. Null if it is not there: a shared folder may show it later.
 */
export async function publishCommit(
  work: WorkFolder,
  plan: WorkPlan,
  chunk: PlannedChunk,
  { key, sha256, rows }: ChunkCommit,
): Promise<ChunkResult | null> {
  const result = await readChunkResult(work, plan, chunk, key);
  if (result === null || isFault(result)) return null;
  const text = chunkResultText(result);
  if (result.rows !== rows || hashOf(text) !== sha256) return null;
  if (key !== resultName(chunk.chunk)) await work.publish(resultName(chunk.chunk), text);
  return result;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
