import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { aPlace, domains } from "../../../helpers/a-place.js";
import { simulateNight } from "../../../helpers/night-simulation.js";
import { startRepute } from "../../../helpers/run-repute.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

/** What a service says while something is wrong with it. */
const faults: Readonly<Record<string, string>> = {
  "429": "429 Too Many Requests\r\nretry-after: 1",
  "503": "503 Service Unavailable",
  "500": "500 Internal Server Error",
  page: "200 OK\r\ncontent-type: text/html",
};

test("through every fault, an outage and a kill, a night's rows and counts are right", async () => {
  const names = Array.from({ length: 1_100 }, (_, n) => `h${n}.example.com`);
  const { cwd, server, manifest, read } = await aPlace({ "in.csv": domains(names) });
  const args = ["enrich", "in.csv", "-o", "out.csv", "--resume", "--quiet", "--rate", "400/s"];
  const start = () =>
    startRepute([...args, "--intel-url", server.url, "--lookups", "query", "--timeout", "5s"], {
      cwd,
    });
  let run = start();
  const sent: Record<string, number> = {};
  const hits = new Map<string, number>();
  const answerTo = server.answerTo.bind(server);
  const schedule = ["", "429", "", "503", "partial", "", "500", "page", ""];
  const step = 100;
  server.answerTo = (endpoint, item) => {
    const fault = schedule[Math.floor(server.total / step)] ?? "";
    const hit = hits.get(item) ?? 0;
    // A fault hits a ninth of the items, as often as a run repeats a request for it.
    if (
      fault === "" ||
      Number(/\d+/.exec(item)?.[0]) % 9 !== 0 ||
      hit >= (fault === "page" ? 1 : 2)
    ) {
      hits.delete(item);
      sent["200"] = (sent["200"] ?? 0) + 1;
      return answerTo(endpoint, item);
    }
    hits.set(item, hit + 1);
    const outcome = { page: "200", partial: "503" }[fault] ?? fault;
    sent[outcome] = (sent[outcome] ?? 0) + 1;
    if (fault !== "partial") return `HTTP/1.1 ${faults[fault]}\r\ncontent-length: 0\r\n\r\n`;
    server.partial.add(item);
    const partial = answerTo(endpoint, item);
    server.partial.delete(item);
    return partial;
  };
  const reached = async (requests: number): Promise<void> => {
    while (server.total < requests) await delay(5);
  };
  const descriptors = async () => (await readdir(`/proc/${run.child.pid}/fd`)).length;
  await reached(step / 2);
  const before = await descriptors();
  await reached(2.5 * step);
  await server.stop();
  await delay(1_000);
  await server.start();
  await reached(5.5 * step);
  run.child.kill("SIGKILL");
  await run.result;
  run = start();
  await reached(8.5 * step);
  expect(await descriptors()).toBeLessThanOrEqual(before + 32);
  expect(await run.result).toMatchObject({ code: 0 });
  const rows = (await read("out.csv")).trimEnd().split("\n").slice(1);
  expect(rows.map((row) => row.split(",", 1)[0])).toEqual(names);
  const { statuses, requests, resumed } = await manifest();
  expect([statuses.complete, resumed]).toEqual([names.length, 1]);
  expect(Object.keys(sent).toSorted()).toEqual(["200", "429", "500", "503"]);
  // Only what was open when the program was killed or cut off may differ.
  for (const [outcome, count] of Object.entries(sent)) {
    const counted = requests["query"]?.outcomes[outcome] ?? 0;
    expect(Math.abs(counted - count), `${outcome}: ${counted} of ${count}`).toBeLessThanOrEqual(64);
  }
}, 240_000);

test("a whole night in simulated time keeps its pace, its bounds and every row", async () => {
  const path = join(await temporaryFolder(), "in.txt");
  const [rows, perSecond] = [11_000, 1];
  await writeFile(path, Array.from({ length: rows }, (_, n) => `h${n}.example.com\n`).join(""));
  const night = await simulateNight(path, perSecond, 1);
  const { stretches, tally, written, answers, seconds, left } = night;
  expect(written).toEqual(Array.from({ length: rows }, (_, n) => n + 1));
  const { complete, partial, failed } = tally.statuses;
  // Retries get through most faults; what does not is a row with a status.
  expect(complete + partial + failed).toBe(rows);
  expect([partial, failed].map((n) => n < rows / 100)).toEqual([true, true]);
  const requests = Object.values(tally.requests);
  expect(sum(requests.map(({ outcomes }) => outcomes["200"] ?? 0))).toBe(answers);
  expect(sum(requests.map(({ total }) => total))).toBe(sum(stretches.map((each) => each.requests)));
  expect(answers).toBeGreaterThanOrEqual(2 * (rows - partial - failed));
  expect(sum(stretches.map((stretch) => stretch.rows))).toBe(rows);
  expect(left).toBe(0);
  expect(seconds).toBeGreaterThan(6 * 3600);
  for (const [at, { phase, most, open }] of stretches.slice(0, -1).entries()) {
    const where = `${at}: ${phase}`;
    expect(open, where).toBeLessThanOrEqual(32);
    expect(most, where).toBeLessThanOrEqual(10 * perSecond + 1);
  }
  const calm = stretches.slice(0, -1).filter(({ phase }) => phase === "calm");
  // A calm stretch begins with what the fault before it left: after an outage, the next probe may be a
  // minute away.
  const least = Math.min(...calm.map(({ requests }) => requests));
  expect(least).toBeGreaterThanOrEqual(0.9 * 1500 * perSecond);
  const timers = calm.map((stretch) => stretch.timers);
  expect(Math.max(...timers.slice(1))).toBeLessThanOrEqual(Math.max(64, 2 * timers[0]!));
  expect(await simulateNight(path, perSecond, 1)).toEqual(night);
}, 120_000);

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
