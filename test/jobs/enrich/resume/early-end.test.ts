import { expect, test } from "vitest";
import { HurriedClock } from "../../../helpers/hurried-clock.js";
import { column, workspace } from "../../../helpers/workspace.js";
import { runningService } from "../../../service/running-service.js";

test("failed attempts count against --max-requests, which is never exceeded", async () => {
  let requests = 0;
  const onRequest = () => void requests++;
  const service = await runningService({ unavailableRate: 0.4, onRequest });
  const rows = Array.from({ length: 20 }, (_, i) => `198.51.100.${i}`);
  const { runWith } = await workspace({ "in.csv": column("ip", rows) });
  const args = ["enrich", "in.csv", "-o", "out.csv", "--intel-url", service.intelUrl];
  const clock = new HurriedClock();
  const { code, stderr } = await runWith({ clock }, ...args, "--max-requests", "30");
  expect([code, requests]).toEqual([75, 30]);
  expect(stderr).toMatch(/^repute: stopped early: --max-requests 30 is used up;.*--resume\n$/m);
});
