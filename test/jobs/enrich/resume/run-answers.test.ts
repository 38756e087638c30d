import { expect, test } from "vitest";
import { enrichHere } from "../../../helpers/enrich-here.js";
import { HurriedClock } from "../../../helpers/hurried-clock.js";
import { reply, startScriptedServer, type Step } from "../../../helpers/scripted-server.js";
import { ipResult, partialSuccess, success } from "../../../client/api/answers.js";

const whole = reply(200, success(ipResult()));
const page = reply(200, "<!doctype html><title>Sign in</title>", { "content-type": "text/html" });

function partial(members: Readonly<Record<string, unknown>>): Step {
  return reply(503, partialSuccess({ ...ipResult(), ...members }));
}

/** Enriches one address by query against a scripted server. */
async function tried(script: readonly Step[], settings: object = {}) {
  const server = await startScriptedServer(script);
  const clock = new HurriedClock();
  const run = await enrichHere({
    input: ["in.csv", "ip\n192.0.2.7\n"],
    intelUrl: server.url,
    settings: { lookups: "query", rate: "1000000/s", ...settings },
    clock,
  });
  return { run, row: run.records()[0] ?? {}, server, clock };
}

test("a partial answer followed by a full one is complete, and pauses nothing", async () => {
  const { row, run, clock } = await tried([partial({ asn: null }), whole], { concurrency: 1 });
  expect(row).toMatchObject({
    rep_status: "complete",
    rep_missing: "",
    rep_asn: "AS64496",
    rep_http_status: "200",
    rep_attempts: "2",
  });
  expect(run.manifest.requests).toEqual({
    query: { total: 2, outcomes: { "200": 1, "503": 1 } },
  });
  expect(Math.max(...clock.asked)).toBeLessThan(500);
});

test("a throttle answer is waited out, and a malformed one asked for once more, not twice", async () => {
  const { row, clock, server } = await tried([reply(429, "", { "retry-after": "7" }), page]);
  expect(row).toMatchObject({ rep_status: "failed", rep_error_code: "response_schema" });
  expect(Math.max(...clock.asked)).toBeGreaterThanOrEqual(6_900);
  expect(server.requests).toHaveLength(3);
});
