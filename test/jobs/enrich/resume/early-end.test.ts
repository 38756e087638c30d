import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startService } from "../../../../src/service/service.js";
import { HurriedClock } from "../../../helpers/hurried-clock.js";
import { runRepute } from "../../../helpers/run-repute.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

async function serviceAndInput(unavailableRate = 0) {
  let requests = 0;
  const service = await startService({ unavailableRate, onRequest: () => void requests++ });
  onTestFinished(() => service.close());
  const cwd = await temporaryFolder();
  const rows = Array.from({ length: 20 }, (_, i) => `198.51.100.${i}`);
  await writeFile(join(cwd, "in.csv"), `ip\n${rows.join("\n")}\n`);
  const args = ["enrich", "in.csv", "-o", "out.csv", "--intel-url", service.intelUrl];
  return { cwd, args, requests: () => requests };
}

test("a run stops after --max-requests, and each resume has its own budget", async () => {
  const { cwd, args, requests } = await serviceAndInput();
  const first = await runRepute([...args, "--max-requests", "25"], { cwd });
  expect(first).toMatchObject({ code: 75 });
  expect(first.stderr).toMatch(
    /^repute: stopped early: --max-requests 25 is used up;.*--resume\n$/m,
  );
  expect(requests()).toBe(25);
  const second = await runRepute([...args, "--max-requests", "25", "--resume"], { cwd });
  expect(second).toMatchObject({ code: 0 });
  expect(requests()).toBe(40);
  const written = await readFile(join(cwd, "out.csv"), "utf8");
  expect(written.trimEnd().split("\n")).toHaveLength(21);
});

test("failed attempts count against --max-requests, which is never exceeded", async () => {
  const { cwd, args, requests } = await serviceAndInput(0.4);
  const clock = new HurriedClock();
  const first = await runRepute([...args, "--max-requests", "30", "--quiet"], { cwd, clock });
  expect([first.code, requests()]).toEqual([75, 30]);
});
