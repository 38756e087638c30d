import { describe, expect, it } from "vitest";
import { isBogon } from "../../../../src/core/item/ip.js";

describe("isBogon", () => {
  it.each([
    "10.0.0.1",
    "100.64.0.1",
    "169.254.0.1",
    "172.16.0.1",
    "192.0.2.1",
    "192.168.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:198.51.100.1",
    "64:ff9b::a00:1",
    "2002:a00:1::1",
    "2001:db8::1",
    "4000::1",
    "fc00::1",
    "fe80::1",
    "ff02::1",
  ])("is true for %s", (address) => {
    expect(isBogon(address)).toBe(true);
  });

  it.each([
    "11.0.0.0",
    "100.128.0.0",
    "172.32.0.0",
    "192.0.0.9",
    "192.175.48.1",
    "64:ff9b::102:304",
    "2001:1::1",
    "2001:4860::1",
    "2002:102:304::1",
  ])("is false for %s", (address) => {
    expect(isBogon(address)).toBe(false);
  });
});
