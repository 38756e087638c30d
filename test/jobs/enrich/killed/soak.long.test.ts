import { readdir } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { startRepute } from "../../../helpers/run-repute.js";
import { column, servedWorkspace } from "../../../helpers/workspace.js";

/** What a service says while something is wrong with it. */
const faults: Readonly<Record<string, string>> = {
  "429": "429 Too Many Requests\r\nretry-after: 1",
  "503": "503 Service Unavailable",
  "500": "500 Internal Server Error",
  page: "200 OK\r\ncontent-type: text/html",
};

test("through every fault, an outage and a kill, a night's rows and counts are right", async () => {
  const names = Array.from({ length: 1_100 }, (_, n) => `h${n}.example.com`);
  const { cwd, server, manifest, read } = await servedWorkspace({
    "in.csv": column("domain", names),
  });
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
  await server.close();
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
