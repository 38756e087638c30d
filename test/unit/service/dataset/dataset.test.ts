import { expect, test } from "vitest";
import { type IpListFault, readIpList } from "../../../../src/service/dataset/dataset.js";

function parsed(...texts: readonly string[]): readonly string[] {
  return readIpList(texts) as readonly string[];
}

test("reads one address per line, in order, IPv4 first", () => {
  const list = parsed("203.0.113.9\n2001:db8::1\n192.0.2.1\n0.0.0.0\n255.255.255.255\n");
  expect(list).toEqual(["203.0.113.9", "192.0.2.1", "0.0.0.0", "255.255.255.255", "2001:db8::1"]);
});

test("ignores blank lines and comments, and reads CRLF and stray spaces", () => {
  const list = parsed("# a list\r\n\r\n  192.0.2.1 \r\n\t192.0.2.2\r\n   \n192.0.2.3");
  expect(list).toEqual(["192.0.2.1", "192.0.2.2", "192.0.2.3"]);
});

test("keeps the first of duplicate addresses", () => {
  const list = parsed("192.0.2.2\n192.0.2.1\n192.0.2.2\n2001:db8::1\n", "2001:DB8:0::1\n192.0.2.1");
  expect(list).toEqual(["192.0.2.2", "192.0.2.1", "2001:db8::1"]);
});

test("writes IPv6 as in RFC 5952", () => {
  expect(parsed("2001:0DB8:0:0:1:0:0:0001")).toEqual(["2001:db8::1:0:0:1"]);
});

test.each([
  "192.0.2",
  "192.0.2.256",
  "192.0.2.01",
  "192.0.2.1.1",
  "192.0.2.1/24",
  "fe80::1%1",
  "x",
])("names the line with %j, which is not an address", (text) => {
  const fault = readIpList(["192.0.2.1\n", `# one\n\n${text}\n`]);
  expect(fault).toEqual({ source: 1, line: 3, text } satisfies IpListFault);
});

test("reads an empty text as an empty list", () => {
  expect(parsed("")).toEqual([]);
});
