import { hostname } from "node:os";
import { expect, test } from "vitest";
import { hostCheck } from "../../src/service/service.js";

function accepted(listening: string, hosts: readonly string[]): readonly string[] {
  return hosts.filter(hostCheck(listening));
}

const loopback = [
  "localhost",
  "LOCALHOST:8080",
  "localhost.:8080",
  "repute.localhost:9000",
  "127.0.0.1",
  "127.0.0.1:1",
  "127.1.2.3:8080",
  "[::1]:8080",
];
const foreign = [
  "rebound.example",
  "rebound.example:8080",
  "localhost.example",
  "127.0.0.1.example",
  "0.0.0.0:8080",
  "",
  "localhost/..",
  "a@localhost",
  "localhost:port",
];

test.each(["127.0.0.1", "192.0.2.5", "0.0.0.0"])(
  "listening on %s, accepts loopback names and addresses with any port",
  (listening) => {
    expect(accepted(listening, loopback)).toEqual(loopback);
  },
);

test("listening on the loopback interface, accepts nothing else", () => {
  expect(accepted("127.0.0.1", [...foreign, "192.0.2.5", hostname()])).toEqual([]);
});

test("accepts the address it listens on, and no other", () => {
  expect(accepted("192.0.2.5", ["192.0.2.5:80", "192.0.2.6:80"])).toEqual(["192.0.2.5:80"]);
});

test("accepts an IPv6 address in any spelling", () => {
  const spellings = ["[2001:db8::5]", "[2001:DB8:0::5]:80"];
  expect(accepted("2001:db8:0:0::5", [...spellings, "[2001:db8::6]"])).toEqual(spellings);
});

test("accepts the name it listens on", () => {
  expect(accepted("Intel.Example", ["intel.example:8080", "other.example"])).toEqual([
    "intel.example:8080",
  ]);
});

test.each(["0.0.0.0", "::"])(
  "on all interfaces (%s), accepts addresses and the machine's name, but no other names",
  (listening) => {
    const own = ["192.0.2.5:8080", "[2001:db8::5]:8080", "0.0.0.0:8080", hostname()];
    expect(accepted(listening, [...own, "rebound.example", "localhost.example"])).toEqual(own);
  },
);
