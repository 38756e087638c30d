import { expect, test } from "vitest";
import { groupOf, reportProfile, selfTimes } from "../../bench/profile.mjs";

const frame = (functionName: string, url = "", lineNumber = 0) => ({
  functionName,
  url,
  lineNumber,
});

test.each([
  [frame("put", "file:///home/me/repute/dist/client/lookup/journal.js"), "src/client/lookup"],
  [
    frame("load", "file:///home/me/repute/dist/client/lookup/journal/record-log.js"),
    "src/client/lookup/journal",
  ],
  [frame("", "file:///home/me/repute/dist/index.js"), "src"],
  [frame("parse", "file:///r/node_modules/zod/v4/core/parse.js"), "zod"],
  [frame("sha256", "file:///r/node_modules/@noble/hashes/sha2.js"), "@noble/hashes"],
  [frame("f", "file:///r/node_modules/a/node_modules/b/dist/index.js"), "b"],
  [frame("emit", "node:events"), "node"],
  [frame("llhttp_execute", "wasm://wasm/0004d1a2"), "undici (llhttp)"],
  [frame("writev"), "built into V8 and Node.js"],
  [frame("(garbage collector)"), "garbage collection"],
])("%j belongs to %s", (callFrame, group) => {
  expect(groupOf(callFrame)).toBe(group);
});

const profile = {
  nodes: [
    { id: 1, callFrame: frame("(idle)") },
    { id: 2, callFrame: frame("put", "file:///r/dist/client/lookup/journal.js", 9) },
    // The same function, called from elsewhere.
    { id: 3, callFrame: frame("put", "file:///r/dist/client/lookup/journal.js", 9) },
    { id: 4, callFrame: frame("parse", "file:///r/node_modules/zod/parse.js", 4) },
  ],
  samples: [1, 2, 3, 4, 2],
  timeDeltas: [500, 30, 30, 25, 15],
};

test("a function's time is summed over all its callers", () => {
  expect(selfTimes(profile)).toContainEqual({
    group: "src/client/lookup",
    name: "put",
    place: "client/lookup/journal.js:10",
    micros: 75,
  });
});

test("shares exclude idle time", () => {
  const report = reportProfile(profile, 10);
  expect(report).toContain("0.0001 s busy, 0.0005 s idle, 10 µs a row");
  expect(report).toMatch(/^\| src\/client\/lookup +\| +75\.0% \| +7\.5 \|$/m);
  expect(report).toMatch(/^\| parse +\| +25\.0% \| +2\.5 \| zod +\| zod\/parse\.js:5 +\|$/m);
  expect(report).not.toContain("(idle)");
});
