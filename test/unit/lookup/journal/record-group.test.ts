import { expect, test } from "vitest";
import { decodeRecord } from "../../../../src/lookup/journal/finding-record.js";
import {
  blockOf,
  eachRecordIn,
  largeBlock,
  nextBlockStart,
  recordIn,
  slots,
} from "../../../../src/lookup/journal/record-block.js";
import { RecordGroup, unknownPrevious } from "../../../../src/lookup/journal/record-group.js";
import { complete } from "../findings.js";

/** So many records, `n` in the data of each. */
function groupOf(count: number, first = slots): RecordGroup {
  const group = new RecordGroup(first);
  for (let n = 0; n < count; n++) group.add(`key ${n}`, n, complete({ n }), false);
  return group;
}

function numberIn(record: Buffer | undefined): unknown {
  return record === undefined ? undefined : decodeRecord(record).finding.query?.["n"];
}

test("a record is found by its number, and its number by its hash", () => {
  const group = groupOf(3000);
  const numbers = Array.from({ length: 3000 }, (_, n) => numberIn(group.at(group.find(n))));
  expect(numbers).toEqual(Array.from(numbers.keys()));
  expect([group.find(3000), group.at(slots - 1), group.at(slots + 3000)]).toEqual([
    0,
    undefined,
    undefined,
  ]);
});

test("its blocks have all records, each in its slot", () => {
  const found: unknown[] = [];
  const filled: boolean[] = [];
  groupOf(100).eachBlock((sequence, bytes) => {
    eachRecordIn(sequence, bytes, (at, record) => found.push([at, numberIn(record)]));
    expect(numberIn(recordIn(bytes, sequence + 3))).toBe(sequence + 3 - slots);
    filled.push(recordIn(bytes, sequence + slots - 1) !== undefined);
  });
  // The last one has four.
  expect(filled).toEqual([true, true, true, true, true, true, false]);
  expect(found).toEqual(Array.from({ length: 100 }, (_, n) => [n + slots, n]));
});

test("a block that has grown large ends; the numbers of its other slots are not given", () => {
  const group = new RecordGroup(slots);
  const long = "x".repeat(largeBlock);
  for (let n = 0; n < 3; n++) group.add(`key ${n}`, n, complete({ n, long }), false);
  const blocks: number[] = [];
  group.eachBlock((sequence, bytes) => {
    blocks.push(blockOf(sequence));
    expect(numberIn(recordIn(bytes, sequence))).toBe(blocks.length - 1);
  });
  expect(blocks).toEqual([1, 2, 3]);
  expect(nextBlockStart(group.next)).toBe(4 * slots);
});

test("what the log does not have yet is handed over once, in pieces without gaps", () => {
  const group = groupOf(2);
  const piece = group.takeUnlogged();
  expect(piece.map(({ sequence }) => sequence)).toEqual([slots]);
  expect(group.takeUnlogged()).toEqual([]);
  for (let n = 2; n < 5; n++) {
    group.add(`key ${n}`, n, complete({ n, long: "x".repeat(largeBlock) }), false);
  }
  const pieces = group.takeUnlogged();
  expect(pieces.map(({ sequence }) => sequence)).toEqual([slots + 2, 2 * slots, 3 * slots]);
  const found: unknown[] = [];
  for (const { sequence, bytes } of pieces) {
    eachRecordIn(sequence, bytes, (_, record) => found.push(numberIn(record)));
  }
  expect(found).toEqual([2, 3, 4]);
});

test("records with one hash lead back to each other, and the first of them to the index", () => {
  const group = new RecordGroup(slots);
  group.add("one", 7, complete({ n: 1 }), true);
  group.add("other", 7, complete({ n: 2 }), true);
  const previous = (sequence: number): number | undefined => group.at(sequence)?.readUInt32LE(0);
  expect([group.find(7), previous(slots + 1), previous(slots)]).toEqual([
    slots + 1,
    slots,
    unknownPrevious,
  ]);
  const entered: unknown[] = [];
  group.enter({ find: () => 5, add: (hash, sequence) => entered.push([hash, sequence]) });
  expect(previous(slots)).toBe(5);
  expect(entered).toEqual([
    [7, slots],
    [7, slots + 1],
  ]);
});

test("takes over what an earlier process logged, under the numbers it had", () => {
  const logged = groupOf(20);
  const group = new RecordGroup(slots);
  for (const { sequence, bytes } of logged.takeUnlogged()) {
    eachRecordIn(sequence, bytes, (at, record) => {
      // As after a block that ended early.
      if (at !== slots + 15) group.takeOver(at, record);
    });
  }
  expect([group.size, group.next, group.at(slots + 15)]).toEqual([19, slots + 20, undefined]);
  expect(numberIn(group.at(slots + 16))).toBe(16);
  expect(group.takeUnlogged()).toEqual([]);
});

test("has nothing of before when it is used again", () => {
  const used = groupOf(50);
  // The one before it ends in the middle of a block.
  const group = groupOf(3, 9 * slots).successor(used);
  expect(group).toBe(used);
  expect([group.size, group.bytes, group.next, group.find(3)]).toEqual([0, 0, 10 * slots, 0]);
  group.add("key", 1, complete({ n: "new" }), false);
  expect(numberIn(group.at(10 * slots))).toBe("new");
  expect(group.at(10 * slots + 1)).toBeUndefined();
});
