import { expect, onTestFinished, test } from "vitest";
import { progressLine, ProgressMeter } from "../../../../src/cli/terminal/progress-display.js";
import { systemClock } from "../../../../src/core/clock.js";
import type { RunProgress } from "../../../../src/jobs/enrich/types.js";
import { startService } from "../../../../src/service/service.js";
import { enrichHere } from "../../../helpers/enrich-here.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

/** A service that counts its requests, and tells when one arrives. */
async function countingService() {
  const seen = { requests: 0, onRequest: (): void => undefined };
  const service = await startService({
    onRequest() {
      seen.requests++;
      seen.onRequest();
    },
  });
  onTestFinished(() => service.close());
  return { seen, intelUrl: service.intelUrl };
}

const items = Array.from({ length: 60 }, (_, n) => `host-${n}.example.com\n`).join("");

/** Runs with one request at a time, and returns the progress when each request arrives. */
async function progressOf(
  { seen, intelUrl }: Awaited<ReturnType<typeof countingService>>,
  settings: Readonly<Record<string, unknown>>,
  folder: string,
): Promise<readonly RunProgress[]> {
  const found: RunProgress[] = [];
  const start = new Date(2024, 0, 3, 4, 30).getTime();
  await enrichHere({
    folder,
    input: ["in.txt", items],
    intelUrl,
    settings: { rate: "900/s", lookups: "query", concurrency: 1, ...settings },
    clock: { ...systemClock, now: () => start },
    onStart: (progress) => {
      seen.onRequest = () => void found.push(progress());
    },
  }).catch(() => undefined);
  return found;
}

/** The line at a moment `seconds` after the start of a run. */
function lineAt([first, ...rest]: readonly RunProgress[], seconds: number): string {
  const meter = new ProgressMeter(first!, 0);
  const now = rest.at(-1)!;
  return progressLine(now, meter.measure(now, seconds * 1000), 200);
}

const leftOf = (found: readonly RunProgress[]) =>
  found.map(({ ends, requests }) => [ends.requests, requests]);

test("the progress tells what a budget leaves; a resumed run has its own", async () => {
  const service = await countingService();
  const folder = await temporaryFolder();
  const found = await progressOf(service, { maxRequests: 40 }, folder);
  expect(leftOf(found)).toEqual(Array.from({ length: 40 }, (_, n) => [40 - n, n]));
  // 35 requests in 10 s, 5 of 25 left.
  expect(lineAt(found.slice(0, 36), 10)).toMatch(/ stops in 1\.\d s, at about 6\d% /);
  const more = await progressOf(service, { maxRequests: 40, resume: true }, folder);
  expect(leftOf(more)).toEqual(Array.from({ length: 20 }, (_, n) => [40 - n, 40 + n]));
});

test("the progress tells what a quota leaves, which runs share", async () => {
  const service = await countingService();
  const rate = "900/s,30/h";
  await progressOf(service, { rate, maxRequests: 10 }, await temporaryFolder());
  const found = await progressOf(service, { rate, maxRequests: 25 }, await temporaryFolder());
  // A budget may end a run between the quota's permit and its request.
  expect([19, 20]).toContain(found.length);
  expect(leftOf(found)).toEqual(found.map((_, n) => [found.length - n, n]));
});
