import { expect, test } from "vitest";
import { serviceOptions } from "../../src/service/options.js";

test.each([
  ["50ms", { minMs: 50, maxMs: 50 }],
  ["20ms-1s", { minMs: 20, maxMs: 1000 }],
])("reads the latency %j", (latency, expected) => {
  expect(serviceOptions.parse({ latency }).latency).toEqual(expected);
});

test.each(["50", "80ms-20ms", "1ms-2ms-3ms", "fast"])("refuses the latency %j", (latency) => {
  const issue = serviceOptions.safeParse({ latency }).error?.issues[0];
  expect(issue?.message).toMatch(/50ms, or a range such as 20ms-80ms/);
});
