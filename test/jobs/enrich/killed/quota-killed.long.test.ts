import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runRepute, startRepute } from "../../../helpers/run-repute.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { runningService } from "../../../service/running-service.js";

test("permits held by a killed process stay counted, so the quota is not exceeded", async () => {
  let requests = 0;
  let reached: () => void = () => undefined;
  const some = new Promise<void>((resolve) => (reached = resolve));
  const service = await runningService({
    latency: "20ms",
    onRequest: () => {
      if (++requests === 10) reached();
    },
  });
  const cwd = await temporaryFolder();
  const env = { XDG_STATE_HOME: join(cwd, "state") };
  const rows = Array.from({ length: 200 }, (_, i) => `198.51.100.${i}`);
  await writeFile(join(cwd, "in.csv"), `ip\n${rows.join("\n")}\n`);
  const args = ["enrich", "in.csv", "-o", "out.csv", "--intel-url", service.intelUrl];
  const limits = ["--rate", "50/s", "--rate", "100/d", "--lookups", "query", "--quiet"];
  // One request at a time: only one can be counted, and killed before the service sees it.
  limits.push("--concurrency", "1");
  const first = startRepute([...args, ...limits], { cwd, env });
  await some;
  first.child.kill("SIGKILL");
  await first.result;
  const second = await runRepute([...args, ...limits, "--resume"], { cwd, env });
  expect(second.code).toBe(75);
  expect(requests).toBeLessThanOrEqual(100);
  expect(requests).toBeGreaterThanOrEqual(99);
});
