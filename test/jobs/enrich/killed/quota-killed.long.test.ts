import { expect, test } from "vitest";
import { enrichKilled } from "../../../helpers/enrich-killed.js";
import { column, servedWorkspace } from "../../../helpers/workspace.js";

test("permits held by a killed process stay counted, so the quota is not exceeded", async () => {
  const rows = Array.from({ length: 200 }, (_, i) => `198.51.100.${i}`);
  const { at, askWith, cwd, server } = await servedWorkspace({ "in.csv": column("ip", rows) });
  const env = { XDG_STATE_HOME: at("state") };
  // One request at a time: only one can be counted, and killed before the service sees it.
  const args = ["in.csv", "-o", "out.csv", "--rate", "100/d", "--concurrency", "1"];
  await enrichKilled({ server, cwd, env, args, kill: { requests: 10, ms: 0 } });
  const { code } = await askWith({ env }, "enrich", ...args, "--resume", "--quiet");
  expect(code).toBe(75);
  expect(server.total).toBeLessThanOrEqual(100);
  expect(server.total).toBeGreaterThanOrEqual(99);
});
