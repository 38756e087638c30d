import fc from "fast-check";
import { expect, it, test } from "vitest";
import { readIpv6 } from "../../../src/core/item/ip.js";
import {
  type AddressList,
  addressTexts,
  difference,
  readEntries,
  sortAddresses,
} from "../../../src/jobs/tags/address-list.js";

function listOf(entries: readonly string[]): AddressList {
  const read = readEntries(entries);
  if (typeof read === "number") throw new Error(`entry ${read} is no address`);
  return sortAddresses(read);
}

function textOf(list: AddressList): string[] {
  return addressTexts(list).flatMap(([, texts]) => Array.from(texts));
}

// Many zeros, so that runs of them occur.
const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
const v6 = fc
  .array(group, { minLength: 8, maxLength: 8 })
  .map((groups) => groups.map((each) => each.toString(16)).join(":"));

test("addresses are written in their normal form", () => {
  fc.assert(
    fc.property(fc.ipV4(), v6, (quad, address) => {
      expect(textOf(listOf([address, quad]))).toEqual([quad, readIpv6(address)]);
    }),
  );
});

test.each([
  ["255.255.255.255", "255.255.255.255"],
  ["2001:DB8:0:0:8:800:200C:417A", "2001:db8::8:800:200c:417a"],
  ["0:0:0:0:0:0:0:0", "::"],
  ["1::", "1::"],
  ["::192.0.2.1", "::c000:201"],
  ["::FFFF:c000:0201", "::ffff:192.0.2.1"],
  ["64:ff9b::192.0.2.33", "64:ff9b::c000:221"],
])("%s is %s", (text, normal) => {
  expect(textOf(listOf([text]))).toEqual([normal]);
});

test.each(["", "01.2.3.4", " 1.2.3.4", "192.0.2.0/24", "[2001:db8::1]", "fe80::1%eth0"])(
  "%j is invalid at its position",
  (text) => {
    expect(readEntries(["192.0.2.1", "2001:db8::1", text, "x"])).toBe(2);
  },
);

it("sorts numerically, IPv4 before IPv6, each address once", () => {
  const entries = ["2001:db8::10", "2001:db8::9", "192.0.2.10", "2001:DB8:0::10", "192.0.2.9"];
  expect(textOf(listOf([...entries, "192.0.2.10", "::ffff:192.0.2.9"]))).toEqual([
    "192.0.2.9",
    "192.0.2.10",
    "::ffff:192.0.2.9",
    "2001:db8::9",
    "2001:db8::10",
  ]);
});

it("difference is what one list has and the other lacks", () => {
  const list = listOf(["192.0.2.1", "192.0.2.2", "::1", "::2"]);
  const other = listOf(["192.0.2.2", "192.0.2.3", "::2", "::3"]);
  expect(textOf(difference(list, other))).toEqual(["192.0.2.1", "::1"]);
  // An IPv6 address may have the number of an IPv4 address.
  expect(textOf(difference(listOf(["0.0.0.1"]), listOf(["::1"])))).toEqual(["0.0.0.1"]);
});
