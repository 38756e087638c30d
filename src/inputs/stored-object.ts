import { pinObject, readObject, type PinnedObject } from "../s3/read-object.js";
import { type ChecksumState, RunningChecksum } from "../core/files/running-checksum.js";
import { checkedBytes } from "./verify-input.js";
import type { SourceInput, StoredInput } from "./types.js";

const pins = new WeakMap<SourceInput, Promise<PinnedObject>>();

/** The version of an object that a run reads: the one that it finds first. */
export function pinnedObject(
  input: Extract<SourceInput, { readonly path: string }>,
): Promise<PinnedObject> {
  const known = pins.get(input);
  if (known !== undefined) return known;
  const pin = pinObject(input.path);
  pins.set(input, pin);
  return pin;
}

/**
 * Opens an object. A resumed run also reads it from the start, to compare the bytes that were read
 * before.
 *
 * @throws UsageError `input_not_found`, FatalError `object_*`
 */
export async function openObject(
  input: Extract<SourceInput, { readonly path: string }>,
  before: ChecksumState | null,
): Promise<StoredInput> {
  const pinned = await pinnedObject(input);
  const read = { checksum: new RunningChecksum(before) };
  const stop = new AbortController();
  return {
    name: input.path,
    size: pinned.size,
    handle: null,
    read,
    async *chunksFrom(start) {
      yield* checkedBytes(readObject(pinned, { start, signal: stop.signal }), input.path, read);
    },
    close: async () => stop.abort(),
  };
}
