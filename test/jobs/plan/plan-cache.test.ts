import { expect, test } from "vitest";
import { type Clock, systemClock } from "../../../src/core/clock.js";
import type { Plan } from "../../../src/jobs/plan/plan.js";
import { startAnsweringServer } from "../../helpers/answering-server.js";
import { column, workspace } from "../../helpers/workspace.js";

const hourMs = 3_600_000;

/** The time now, plus so many hours. */
function later(hours: number): Clock {
  return { ...systemClock, now: () => systemClock.now() + hours * hourMs };
}

/** A folder with inputs, a service and a cache, and the program that uses them at any hour. */
async function machine() {
  const server = await startAnsweringServer();
  const place = await workspace();
  const common = ["--intel-url", server.url, "--cache", "cache"];
  const write = (name: string, rows: readonly string[]): Promise<void> =>
    place.write(name, column("item", rows));
  const plan = async (flags: readonly string[], hours = 0): Promise<Plan> => {
    const call = ["plan", "in.csv", "--json", ...common, ...flags];
    const { code, stdout, stderr } = await place.runWith({ clock: later(hours) }, ...call);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return JSON.parse(stdout) as Plan;
  };
  /** Makes a run, and returns its requests. */
  const asked = async (flags: readonly string[], hours = 0): Promise<readonly string[]> => {
    const before = new Map(server.asked);
    const call = ["enrich", "in.csv", "-o", "out.csv", "--quiet", "--resume", "--rate", "9999/s"];
    const { code } = await place.runWith({ clock: later(hours) }, ...call, ...common, ...flags);
    expect([0, 3, 75]).toContain(code);
    return [...server.asked].flatMap(([key, n]) =>
      Array.from({ length: n - (before.get(key) ?? 0) }, () => key),
    );
  };
  return { server, write, plan, asked };
}

const names = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from }, (_, n) => `n${from + n}.example.com`);

test.each([
  { lookups: "query,quick-check" },
  { lookups: "query" },
  { lookups: "quick-check", bogons: "local" },
])("night after night, %j asks as often as its plan says", async ({ lookups, bogons = "ask" }) => {
  const { server, write, plan, asked } = await machine();
  const flags = ["--lookups", lookups, "--bogons", bogons];
  server.partial.add("n3.example.com");
  server.absent.add("n4.example.com");
  const nights: readonly (readonly [hours: number, rows: readonly string[]])[] = [
    [0, [...names(0, 20), "192.0.2.1", "10.0.0.1", "n3.example.com", "setup.exe"]],
    // Only what is new, partial or failed; partial answers expire after an hour.
    [2, [...names(10, 25), ...names(0, 10), "192.0.2.1"]],
    // Everything has expired but reserved ranges and what the night before had asked for.
    [25, [...names(0, 30), "192.0.2.1", "10.0.0.1"]],
    [25, [...names(0, 30), "192.0.2.1", "10.0.0.1"]],
  ];
  const counts: number[] = [];
  for (const [hours, rows] of nights) {
    await write("in.csv", rows);
    const { chosen } = await plan(flags, hours);
    const requests = await asked([...flags, "--partial-retries", "0"], hours);
    expect(requests).toHaveLength(chosen.requests);
    counts.push(chosen.requests);
  }
  expect(counts[0]).toBeGreaterThan(counts[1]!);
  expect(counts[2]).toBeGreaterThan(counts[3]!);
});
