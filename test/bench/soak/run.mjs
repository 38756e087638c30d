// A night in real time, shortened: one run of the built program against a server whose faults come and
// go, one kill included. Prints a line per phase, and checks that rows, requests, pace, memory and
// descriptors are what they should be. Exits with 1 if they are not.
//
//   npm run build && node test/bench/soak/run.mjs [--minutes 20] [--rate 300] [--to .out/soak]
//
// soak.csv in the folder has a line per second.
import { fork, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { writeInput } from "../items.mjs";
import { faultsFound, isBusy, phasesOf } from "./checks.mjs";
import { resourcesOf, rowsIn } from "./process-facts.mjs";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "20" },
    rate: { type: "string", default: "300" },
    to: { type: "string", default: fileURLToPath(new URL("../../../.out/soak", import.meta.url)) },
  },
});
const rate = Number(values.rate);
const totalMs = Number(values.minutes) * 60_000;
const concurrency = 32;
const main = fileURLToPath(new URL("../../../dist/program/repute.js", import.meta.url));

/** Each comes on once; `kill -9` is the one that the program itself suffers. */
const faults = ["late", "partial", "429", "reset", "silent", "kill -9", "503"].concat([
  "broken",
  "HTML page",
  "error 500",
  "other item",
  "outage",
]);
const schedule = [...faults.flatMap((name) => ["calm", name]), "calm"];
const phaseMs = totalMs / schedule.length;
/** Requests every second; fewer rows than the rate allows, since faults take time. */
const rows = Math.floor((rate * totalMs * 0.8) / 1000 / 2);

const folder = await mkdtemp(join(tmpdir(), "repute-soak-"));
const samples = [];
try {
  await writeInput(join(folder, "in.csv"), rows);
  const server = await startServer();
  const ended = await night(server);
  const counts = await server.counts();
  server.stop();
  const manifest = JSON.parse(await readFile(join(folder, "out.csv.manifest.json"), "utf8"));
  await report({ ended, counts, manifest });
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function startServer() {
  const server = fork(fileURLToPath(new URL("faulty-server.mjs", import.meta.url)), [values.rate]);
  const next = () => new Promise((done) => server.once("message", done));
  const { url } = await next();
  return {
    url,
    change: (fault) => server.send({ fault }),
    counts() {
      const counts = next();
      server.send({ report: true });
      return counts;
    },
    stop: () => server.disconnect(),
  };
}

/** Runs the schedule. Resolves to the exit code of the program. */
async function night(server) {
  const begun = performance.now();
  let run = enrich(server.url);
  let sampledAt = begun;
  let [at, phaseBegan] = [-1, Number.NEGATIVE_INFINITY];
  while (run.code === undefined) {
    // However late the timers are, no phase is left out.
    if (at < schedule.length && performance.now() - phaseBegan >= phaseMs) {
      const phase = schedule[++at] ?? "calm";
      phaseBegan = performance.now();
      server.change(phase === "calm" || phase === "kill -9" ? null : phase);
      if (phase === "kill -9") {
        // What is killed before its first request has nothing to resume.
        while (run.code === undefined && (await server.counts()).arrived === 0) await sleep(100);
        run.child.kill("SIGKILL");
        await run.ended;
        run = enrich(server.url);
      }
    }
    await Promise.race([sleep(Math.min(1000, phaseMs)), run.ended]);
    const { arrived, most, open } = await server.counts();
    const now = performance.now();
    samples.push({
      second: Math.round((now - begun) / 100) / 10,
      phase: at < schedule.length ? `${at} ${schedule[at]}` : "rest",
      arrived,
      mostInASecond: most,
      connections: open,
      rows: await rowsIn(join(folder, "m.prom")),
      load: loadavg()[0],
      ...(await resourcesOf(run.child.pid)),
      seconds: (now - sampledAt) / 1000,
    });
    sampledAt = now;
  }
  return run.code;
}

/** Starts the program, or continues what a kill interrupted. */
function enrich(url) {
  const args = ["enrich", "in.csv", "-o", "out.csv", "--resume", "--quiet", "--intel-url", url];
  const how = ["--rate", `${rate}/s`, "--concurrency", `${concurrency}`, "--timeout", "2s"];
  const files = ["--cache", "cache", "--metrics", "m.prom"];
  const child = spawn(process.execPath, [main, ...args, ...how, ...files], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, XDG_STATE_HOME: folder, REPUTE_BOGONS: "ask" },
  });
  const run = {
    child,
    code: undefined,
    ended: new Promise((resolve) =>
      child.on("close", (code, signal) => resolve((run.code = code ?? signal))),
    ),
  };
  return run;
}

async function report({ ended, counts, manifest }) {
  const phases = phasesOf(samples);
  console.table(
    phases.map((phase) => ({
      phase: phase.name,
      s: Math.round(phase.seconds),
      "requests/s": Number(phase.perSecond.toFixed(1)),
      "most in 1 s": phase.most,
      rows: phase.rows,
      MiB: phase.mib === null ? null : Math.round(phase.mib),
      descriptors: phase.descriptors,
      "CPU, %": phase.cpu === null ? null : Math.round(phase.cpu * 100),
    })),
  );
  const night = { ended, counts, manifest, samples, phases, rows, rate, concurrency };
  const isLong = phaseMs >= 20_000;
  const found = faultsFound(night, isLong);
  const { requests } = manifest;
  const total = Object.values(requests).reduce((sum, { total }) => sum + total, 0);
  const seconds = samples.at(-1).second;
  console.log(
    `${rows} rows, ${total} requests (${counts.arrived} arrived), ${seconds.toFixed(0)} s; statuses ${JSON.stringify(manifest.statuses)}`,
  );
  await mkdir(values.to, { recursive: true });
  const names = Object.keys(samples[0]);
  const lines = samples.map((sample) => names.map((name) => sample[name] ?? "").join());
  await writeFile(join(values.to, "soak.csv"), `${[names.join(), ...lines].join("\n")}\n`);
  console.log(`curves: ${join(values.to, "soak.csv")}`);
  if (isLong && isBusy(samples)) console.log("the machine was busy: the pace is not judged");
  for (const fault of found) console.log(`WRONG: ${fault}`);
  console.log(found.length === 0 ? "all counts are right" : `${found.length} checks failed`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
