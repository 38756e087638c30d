import { buffer } from "node:stream/consumers";
import { limits } from "../formats/reading/lines.js";
import { pinObject, readObject, type PinnedObject } from "../s3/read-object.js";
import { type ChecksumState, RunningChecksum } from "../../core/files/checksum.js";
import { skip } from "./decode.js";
import { checkedBytes, tooShortError } from "./verify-input.js";
import type { FileInput, StoredInput } from "./types.js";

const pins = new WeakMap<FileInput, Promise<PinnedObject>>();

/** The version of an object that a run reads: the one that it finds first. */
export function pinnedObject(input: FileInput): Promise<PinnedObject> {
  const known = pins.get(input);
  if (known !== undefined) return known;
  const pin = pinObject(input.path);
  pins.set(input, pin);
  return pin;
}

/**
 * Opens an object. A resumed run reads it from the start too, to compare the bytes
 * that were read before.
 *
 * @throws UsageError `input_not_found`, FatalError `object_*`
 */
export async function openObject(
  input: FileInput,
  before: ChecksumState | null,
): Promise<StoredInput> {
  const { path, copyOf } = input;
  const pinned = await pinnedObject(input);
  const read = { checksum: new RunningChecksum(before) };
  const stop = new AbortController();
  const { signal } = stop;
  const { size } = pinned;
  const name = copyOf?.name ?? path;
  return {
    name,
    size,
    head: () => buffer(readObject(pinned, { end: Math.min(limits.headBytes, size), signal })),
    read,
    async *chunksFrom(start) {
      const bytes = readObject(pinned, { start: 0, end: size, signal });
      yield* skip(checkedBytes(bytes, name, read), start, name);
      const { awaited } = read.checksum;
      if (awaited > 0) throw tooShortError(name, awaited);
    },
    close: async () => stop.abort(),
  };
}
