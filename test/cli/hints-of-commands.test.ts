import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sampleAccessToken } from "../../src/service/service.js";
import { HurriedClock } from "../helpers/hurried-clock.js";
import { runRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { watchedService } from "../helpers/watched-service.js";

const usedUp = { ratelimit: '"default";r=0;t=30' };

const one = ["--concurrency", "1"];

test.each<[service: "intel" | "ops", requests: number, args: readonly string[]]>([
  ["intel", 6, ["enrich", "in.csv", "-o", "out.csv", ...one]],
  ["intel", 3, ["query", "192.0.2.1", "192.0.2.2", "192.0.2.3", ...one]],
  ["intel", 3, ["quick-check", "192.0.2.1", "192.0.2.2", "192.0.2.3", ...one]],
  ["intel", 3, ["case", "enrich", "case-2001", "-o", "case.csv", "--lookups", "query", ...one]],
  ["intel", 3, ["tags", "ips", "botnet:invented-swarm"]],
  ["intel", 3, ["tags", "export", "botnet:invented-swarm", "-o", "lists"]],
  ["ops", 2, ["customers"]],
])(
  "nothing is sent after an answer of %s that says the limit is used up: %i requests of %j",
  async (service, requests, args) => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, "in.csv"), "ip\n192.0.2.1\n192.0.2.2\n192.0.2.3\n");
    const clock = new HurriedClock();
    const pauses = { intel: [] as number[], ops: [] as number[] };
    const note = (of: number[]) => () =>
      void of.push(clock.asked.filter((ms) => ms > 28_000).length);
    const options = { service: { synthetic: 1 }, headers: usedUp };
    const intel = await watchedService({ ...options, onRequest: note(pauses.intel) });
    const ops = await watchedService({ ...options, onRequest: note(pauses.ops) });
    const env = {
      REPUTE_INTEL_URL: intel.intelUrl,
      REPUTE_OPS_URL: ops.origin,
      REPUTE_ACCESS_TOKEN: sampleAccessToken,
    };
    const { code, stderr } = await runRepute(args, { cwd, env, clock });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const [first = 0, ...others] = pauses[service];
    expect(others.length + 1).toBeGreaterThanOrEqual(requests);
    expect(others.map((count) => count - first)).toEqual(others.map((_, n) => n + 1));
  },
);
