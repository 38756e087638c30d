import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.js";
import { enrich } from "../../../src/jobs/enrich/execute.js";
import { startAnsweringServer } from "../../helpers/answering-server.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { jobHere } from "../../helpers/job-here.js";

it.each([
  ["", undefined],
  [" with a quota", "2000/d"],
])("completes although the wall clock keeps jumping back%s", async (_, rate) => {
  const folder = await temporaryFolder();
  const server = await startAnsweringServer();
  const path = join(folder, "in.csv");
  const names = Array.from({ length: 500 }, (_, n) => `host-${n % 450}.example.com\n`);
  await writeFile(path, `domain\n${names.join("")}`);
  const output = join(folder, "out.csv");
  let wall = Date.UTC(2026, 0, 1);
  const manifest = await enrich(
    jobHere({
      settings: { intelUrl: server.url, output, rate },
      input: { path },
      stateFolder: join(folder, "state"),
      clock: { ...systemClock, now: () => (wall -= 60_000) },
    }),
  );
  expect(manifest.statuses.complete).toBe(500);
  expect(manifest.sources["duplicate"]).toBe(50);
  expect(manifest.seconds).toBeGreaterThanOrEqual(0);
  expect((await readFile(output, "utf8")).trimEnd().split("\n")).toHaveLength(501);
});
