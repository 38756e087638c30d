import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { expect, test } from "vitest";
import { type Clock, systemClock } from "../../../../src/core/clock.js";
import { InterruptedError } from "../../../../src/core/errors.js";
import type { Manifest } from "../../../../src/core/manifest.js";
import { type RunEnd, type RunEndName, runEnds } from "../../../helpers/run-ends.js";
import {
  type RunReputeOptions,
  type RunReputeResult,
  startRepute,
} from "../../../helpers/run-repute.js";
import { reply, startScriptedServer } from "../../../helpers/scripted-server.js";
import { column, servedWorkspace } from "../../../helpers/workspace.js";

const names = Array.from({ length: 120 }, (_, n) => `h${n}.example.com`);

const input = column("domain", names);

/** Request at which a run is stopped from outside: some rows are done, some are not. */
const midway = 50;

type Night = Awaited<ReturnType<typeof prepared>>;

async function prepared() {
  const place = await servedWorkspace({ "in.csv": input });
  const { at, cwd, runWith, server } = place;
  const monitor = await startScriptedServer([reply(200, "OK")]);
  const watched = ["--json", "--metrics", "m.prom", "--ping", `${monitor.url}/night?x=1`];
  const how = ["--lookups", "query", "--concurrency", "4", "--intel-url", server.url];
  const args = (flags: readonly string[]): string[] => {
    const file = flags.includes("missing.csv") ? [] : ["in.csv"];
    // Below 10,000/s a kill repeats only what was open, and what was answered in the last 50 ms.
    const rate = flags.includes("--rate") ? [] : ["--rate", "9000/s"];
    return ["enrich", ...file, "-o", "out.csv", ...how, ...rate, ...watched, ...flags];
  };
  const env = { XDG_STATE_HOME: at("state") };
  return {
    ...place,
    monitor,
    enrich: (flags: readonly string[], options?: RunReputeOptions) =>
      runWith({ env, ...options }, ...args(flags)),
    start: (flags: readonly string[]) => startRepute(args(flags), { cwd, env }),
  };
}

/** Runs an action when the service receives the middle request. */
function atMidway({ server }: Night, act: () => void): void {
  server.onRequest = (total) => {
    if (total === midway) act();
    return true;
  };
}

/** A clock that two hours can be added to, which ends every long sleep. */
function leapingClock(): { readonly clock: Clock; readonly leap: () => void } {
  let skipped = 0;
  let leaps = new AbortController();
  const clock: Clock = {
    now: () => systemClock.now() + skipped,
    monotonic: () => systemClock.monotonic() + skipped,
    async sleep(ms, signal) {
      if (ms < 10_000) return systemClock.sleep(ms, signal);
      const either = AbortSignal.any([leaps.signal, ...(signal ? [signal] : [])]);
      await systemClock.sleep(ms, either).catch(() => undefined);
      if (signal?.aborted) throw signal.reason;
    },
  };
  const leap = (): void => {
    skipped += 7_200_000;
    leaps.abort();
    leaps = new AbortController();
  };
  return { clock, leap };
}

async function stopped(night: Night, signal: InterruptedError["signal"]): Promise<RunReputeResult> {
  const controller = new AbortController();
  atMidway(night, () => controller.abort(new InterruptedError(signal)));
  return night.enrich([], { signal: controller.signal });
}

type Ended = Pick<RunReputeResult, "stdout" | "stderr"> & { readonly code: number | null };

/** Brings each end about. */
const causes: Readonly<
  Record<Exclude<RunEndName, "the disk is full">, (night: Night) => Promise<Ended>>
> = {
  "all rows are done": ({ enrich }) => enrich([]),
  async "rows that `--fail-on` counts, or failed tags"({ enrich, server }) {
    server.absent.add(names[100] ?? "");
    return enrich([]);
  },
  async "more failed rows than `--max-failed`"({ enrich, server }) {
    for (const name of names.slice(30)) server.absent.add(name);
    return enrich([]);
  },
  "`--max-requests` is used up": ({ enrich }) => enrich(["--max-requests", String(midway)]),
  async "`--deadline` is reached"(night) {
    const { clock, leap } = leapingClock();
    atMidway(night, leap);
    return night.enrich(["--deadline", "1h"], { clock });
  },
  "a quota of `--rate` is used up": ({ enrich }) => enrich(["--rate", `${midway}/d`]),
  async "the service asks to wait for more than 15 minutes"({ enrich, server }) {
    server.limited = (total) =>
      total < midway ? null : "429 Too Many Requests\r\nretry-after: 29241";
    return enrich([]);
  },
  SIGINT: (night) => stopped(night, "SIGINT"),
  SIGTERM: (night) => stopped(night, "SIGTERM"),
  async "SIGKILL, power loss"(night) {
    const { child, result } = night.start([]);
    atMidway(night, () => child.kill("SIGKILL"));
    const ended = await result;
    return { ...ended, code: ended.signal === "SIGKILL" ? 137 : ended.code };
  },
  async "the key is refused (401, 403)"({ enrich, server }) {
    server.refusing = true;
    return enrich([]);
  },
  async "a wrong address: only 404"({ enrich, server }) {
    server.silent.add("query");
    return enrich([]);
  },
  async "the service is away for longer than `--outage-patience`"(night) {
    atMidway(night, () => void night.server.close());
    return night.enrich(["--outage-patience", "200ms"]);
  },
  "the input is missing or unreadable": ({ enrich }) => enrich(["missing.csv"]),
  async "none of the rows can be looked up"({ enrich, write }) {
    await write("in.csv", input.replaceAll(/h\d+.*/g, "NULL"));
    return enrich(["--item-column", "domain"]);
  },
  async "the input has no rows, or fewer than `--min-rows`"({ enrich, run, write }) {
    const earlier = ["enrich", "in.csv", "-o", "out.csv", "--local", "--quiet"];
    expect(await run(...earlier)).toMatchObject({ code: 0 });
    await write("in.csv", "domain\n");
    return enrich([]);
  },
  "a mistake on the command line or in the settings": ({ enrich }) => enrich(["--rat", "1/s"]),
};

async function heal({ at, server, write }: Night, isAway: boolean): Promise<void> {
  server.onRequest = () => true;
  server.absent.clear();
  server.silent.clear();
  server.refusing = false;
  server.limited = () => null;
  if (isAway) await server.start();
  await write("in.csv", input);
  await rm(at("state"), { recursive: true, force: true });
}

test.each(Object.entries(causes))("when %s, every machine learns of it", async (event, cause) => {
  const night = await prepared();
  const end: RunEnd = runEnds[event as RunEndName];
  const { code, stdout, stderr } = await cause(night);
  expect(code).toBe(end.code);
  expect(stderr.includes("--resume"), stderr).toBe(end.resumable && end.reason !== null);
  expect(stderr).not.toMatch(/^ +at /m);
  const paths = end.pings.map((path) => `/night${path}?x=1`);
  expect(night.monitor.requests.map(({ path }) => path)).toEqual(paths);
  expect(existsSync(night.at("out.csv.state"))).toBe(end.resumable);
  const saved = end.resumable
    ? (JSON.parse(await night.read("out.csv.state/manifest.json")) as Manifest)
    : null;
  const metrics = await night.read("m.prom");
  expect(metrics).toMatch(/\n# EOF\n$/);
  const shown = { stdout, saved, metrics, ping: night.monitor.requests.at(-1)?.body };
  if (end.reason === null) checkKilled(shown);
  else checkReported(end, shown);
  await heal(night, end.reason === "unreachable");
  const asked = night.server.total;
  const resumed = await night.enrich(["--resume"]);
  expect(resumed.code).toBe(0);
  const manifest = printed(resumed.stdout);
  expect(manifest).toMatchObject({ exit_reason: "done", exit_code: 0, output: { rows: 120 } });
  expect(manifest.resumed).toBe(end.resumable ? 1 : 0);
  const { started_at, seconds } = saved ?? manifest;
  expect(manifest.started_at).toBe(started_at);
  expect(manifest.seconds).toBeGreaterThanOrEqual(seconds);
  const isKept = asked > 0 && end.resumable && end.reason !== null && end.reason !== "refused";
  expect(night.server.total - asked).toBeLessThanOrEqual(
    isKept ? names.length - midway + 8 : names.length,
  );
  expect(await night.manifest()).toEqual(manifest);
});

/** The JSON object, which has to be the only line. */
function printed(stdout: string): Manifest {
  expect(stdout.trimEnd().split("\n")).toHaveLength(1);
  return JSON.parse(stdout) as Manifest;
}

interface Shown {
  readonly stdout: string;
  readonly saved: object | null;
  readonly metrics: string;
  /** Body of the last ping. */
  readonly ping: string | undefined;
}

function checkKilled({ stdout, saved, metrics }: Shown): void {
  expect(stdout).toBe("");
  const ending = { exit_reason: "interrupted", exit_code: null, resumable: true };
  expect(saved).toMatchObject(ending);
  expect(metrics).toContain(`repute_running{command="enrich",output="out.csv"} 1\n`);
}

function checkReported(end: RunEnd, { stdout, saved, metrics, ping }: Shown): void {
  const { exit_reason, exit_code, resumable, statuses } = printed(stdout);
  expect({ exit_reason, exit_code, resumable }).toEqual({
    exit_reason: end.reason,
    exit_code: end.code,
    resumable: end.resumable,
  });
  expect(saved ?? JSON.parse(stdout)).toEqual(JSON.parse(stdout));
  expect(ping).toBe(stdout.trimEnd());
  expect(metrics).toMatch(new RegExp(`^repute_exit_code\\{.*\\} ${end.code}$`, "m"));
  expect(metrics).toMatch(new RegExp(`^repute_exit_reason\\{.*="${end.reason}"\\} 1$`, "m"));
  expect(metrics).toMatch(new RegExp(`^repute_rows\\{.*="complete"\\} ${statuses.complete}$`, "m"));
}
