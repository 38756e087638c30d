import { expect, it, test } from "vitest";
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

it("difference is what one list has and the other lacks", () => {
  const list = listOf(["192.0.2.1", "192.0.2.2", "::1", "::2"]);
  const other = listOf(["192.0.2.2", "192.0.2.3", "::2", "::3"]);
  expect(textOf(difference(list, other))).toEqual(["192.0.2.1", "::1"]);
  // An IPv6 address may have the number of an IPv4 address.
  expect(textOf(difference(listOf(["0.0.0.1"]), listOf(["::1"])))).toEqual(["0.0.0.1"]);
});
