import { expect, it } from "vitest";
import { RunningChecksum, type Damage } from "../../../src/core/files/checksum.js";
import { seeded } from "../../helpers/seeded.js";

it("locates any changed byte between the surrounding marks", () => {
  const bytes = someBytes(1_000_000);
  const before = new RunningChecksum();
  feed(before, bytes, seeded(2));
  const state = before.state();
  expect(state.marks.length).toBeGreaterThan(8);
  const random = seeded(3);
  for (let n = 0; n < 50; n++) {
    const at = Math.floor(random() * bytes.length);
    const damaged = Buffer.from(bytes);
    damaged[at]! ^= 1 << Math.floor(random() * 8);
    const damage = feed(new RunningChecksum(state), damaged, random);
    expect(damage!.from).toBeLessThanOrEqual(at);
    expect(damage!.to).toBeGreaterThan(at);
    expect(damage!.to - damage!.from).toBeLessThan(200_000);
  }
  expect(feed(new RunningChecksum(state), bytes, random)).toBeNull();
});

it("reports the earlier state until it has caught up", () => {
  const before = new RunningChecksum();
  before.update(someBytes(70_000));
  const state = before.state();
  const after = new RunningChecksum(state);
  after.update(someBytes(70_000).subarray(0, 10));
  expect(after.state()).toBe(state);
});

it("keeps few marks for long files and still locates damage", () => {
  const checksum = new RunningChecksum();
  const block = Buffer.alloc(64 * 1024, 7);
  for (let n = 0; n < 500; n++) checksum.update(block);
  const state = checksum.state();
  expect(state.marks.length).toBeLessThanOrEqual(128);
  const again = new RunningChecksum(state);
  const damaged = Buffer.from(block);
  damaged[5] = 8;
  let damage: Damage | null = null;
  for (let n = 0; n < 500 && damage === null; n++) {
    damage = again.update(n === 250 ? damaged : block);
  }
  expect(damage!.from).toBeLessThanOrEqual(250 * block.length);
  expect(damage!.to).toBeGreaterThan(250 * block.length);
  expect(damage!.to - damage!.from).toBeLessThan((500 * block.length) / 30);
});

function someBytes(length: number): Buffer {
  const random = seeded(length);
  return Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
}

/** Feeds bytes in pieces of any length; returns the first damage. */
function feed(checksum: RunningChecksum, bytes: Buffer, random: () => number): Damage | null {
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + Math.floor(random() * 40_000);
    const damage = checksum.update(bytes.subarray(at, end));
    if (damage !== null) return damage;
    at = end;
  }
  return null;
}
