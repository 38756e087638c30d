import { describe, expect, it } from "vitest";
import { PendingBytes } from "../../../src/inputs/pending-bytes.js";

function pendingOf(...chunks: string[]): PendingBytes {
  const pending = new PendingBytes(10);
  for (const chunk of chunks) pending.append(Buffer.from(chunk));
  return pending;
}

describe("PendingBytes", () => {
  it("knows where it begins and ends", () => {
    const pending = pendingOf("abc", "de");
    expect([pending.start, pending.end, pending.length]).toEqual([10, 15, 5]);
  });

  it("gives what is between two offsets, over chunks", () => {
    expect(pendingOf("abc", "def", "ghi").textBetween(12, 17)).toBe("cdefg");
  });

  it.each([10, 11, 13, 14, 16])("keeps what is behind offset %d", (offset) => {
    const pending = pendingOf("abc", "def");
    pending.dropBefore(offset);
    expect([pending.start, pending.length, pending.textBetween(offset, 16)]).toEqual([
      offset,
      16 - offset,
      "abcdef".slice(offset - 10),
    ]);
  });

  it("takes more after everything was dropped", () => {
    const pending = pendingOf("abc");
    pending.dropBefore(13);
    pending.append(Buffer.from("de"));
    expect(pending.textBetween(13, 15)).toBe("de");
  });
});
