import { expect, test } from "vitest";
import { setNames } from "../../../../src/tags/finish-tag.js";

test("a set has the name of the tag's files", () => {
  expect(setNames("credentials:brute-force", "credentials--brute-force")).toEqual({
    ipv4: "credentials--brute-force_v4",
    ipv6: "credentials--brute-force_v6",
  });
});

test.each([
  ["what is too long for ipset", "phishing:credential-page-kit", "phishing--credential-page-kit"],
  ["what begins with a digit", "0day:x", "0day--x"],
  ["what is encoded", "a:b c", "a--b%20c"],
])("%s becomes a name valid in both firewalls", (_, tag, stem) => {
  const { ipv4 } = setNames(tag, stem);
  expect(ipv4).toMatch(/^[A-Za-z][A-Za-z0-9._-]*-[0-9a-f]{8}_v4$/);
  expect(`${ipv4}_n`.length).toBeLessThanOrEqual(31);
});

test("names cut alike stay distinct", () => {
  const one = setNames("a:xxxxxxxxxxxxxxxxxxxxxxxxxxxx1", "a--xxxxxxxxxxxxxxxxxxxxxxxxxxxx1");
  const other = setNames("a:xxxxxxxxxxxxxxxxxxxxxxxxxxxx2", "a--xxxxxxxxxxxxxxxxxxxxxxxxxxxx2");
  expect(one.ipv4).not.toBe(other.ipv4);
});
