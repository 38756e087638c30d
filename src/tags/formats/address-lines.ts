import type { AddressList } from "../address/address-list.js";
import { ByteChunk, longestAddress } from "../address/byte-chunk.js";

/** What stands before and behind an address. */
export type Surroundings = readonly [before: string, behind: string];

/** Each address of a list between the same texts, IPv4 before IPv6. */
export function* addressLines(
  { v4, v6 }: AddressList,
  around: { readonly v4: Surroundings; readonly v6: Surroundings },
): Generator<Uint8Array, void, undefined> {
  const [beforeV4, behindV4] = around.v4.map((text) => Buffer.from(text)) as [Buffer, Buffer];
  const [beforeV6, behindV6] = around.v6.map((text) => Buffer.from(text)) as [Buffer, Buffer];
  const longest = Math.max(beforeV4.length + behindV4.length, beforeV6.length + behindV6.length);
  const chunk = new ByteChunk(longest + longestAddress);
  for (let at = 0; at < v4.length; at++) {
    chunk.put(beforeV4);
    chunk.putV4(v4[at]!);
    chunk.put(behindV4);
    if (chunk.full) yield chunk.take();
  }
  for (let at = 0; at < v6.length / 4; at++) {
    chunk.put(beforeV6);
    chunk.putV6(v6, at);
    chunk.put(behindV6);
    if (chunk.full) yield chunk.take();
  }
  yield chunk.take();
}
