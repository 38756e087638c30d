import { expect, test } from "vitest";
import { HurriedClock } from "../../../helpers/hurried-clock.js";
import { column, workspace } from "../../../helpers/workspace.js";
import { runningService } from "../../../service/running-service.js";

async function serviceAndInput(unavailableRate = 0) {
  let requests = 0;
  const service = await runningService({ unavailableRate, onRequest: () => void requests++ });
  const rows = Array.from({ length: 20 }, (_, i) => `198.51.100.${i}`);
  const place = await workspace({ "in.csv": column("ip", rows) });
  const args = ["enrich", "in.csv", "-o", "out.csv", "--intel-url", service.intelUrl];
  return { ...place, args, requests: () => requests };
}

test("a run stops after --max-requests, and each resume has its own budget", async () => {
  const { records, run, args, requests } = await serviceAndInput();
  const first = await run(...args, "--max-requests", "25");
  expect(first).toMatchObject({ code: 75 });
  expect(first.stderr).toMatch(
    /^repute: stopped early: --max-requests 25 is used up;.*--resume\n$/m,
  );
  expect(requests()).toBe(25);
  const second = await run(...args, "--max-requests", "25", "--resume");
  expect(second).toMatchObject({ code: 0 });
  expect(requests()).toBe(40);
  expect(await records()).toHaveLength(20);
});

test("failed attempts count against --max-requests, which is never exceeded", async () => {
  const { runWith, args, requests } = await serviceAndInput(0.4);
  const clock = new HurriedClock();
  const first = await runWith({ clock }, ...args, "--max-requests", "30", "--quiet");
  expect([first.code, requests()]).toEqual([75, 30]);
});
