import { availableParallelism } from "node:os";

/** The samples summed up by phase. */
export function phasesOf(samples) {
  const phases = [];
  let arrivedBefore = 0;
  for (const sample of samples) {
    let phase = phases.at(-1);
    if (phase?.key !== sample.phase) {
      const name = sample.phase.replace(/^\d+ /, "");
      phase = { key: sample.phase, name, arrivedBefore, list: [] };
      phases.push(phase);
    }
    phase.list.push(sample);
    arrivedBefore = sample.arrived;
  }
  return phases.map(({ name, list, arrivedBefore }) => {
    const last = list.at(-1);
    const seconds = sum(list.map((sample) => sample.seconds));
    // A kill starts a new process, whose processor time begins at 0.
    const own = list.filter(({ pid, cpuSeconds }) => pid === last.pid && cpuSeconds !== null);
    const spent = own.length < 2 ? null : own.at(-1).cpuSeconds - own[0].cpuSeconds;
    const descriptors = known(list, "descriptors");
    return {
      name,
      seconds,
      perSecond: (last.arrived - arrivedBefore) / seconds,
      most: Math.max(...list.map((sample) => sample.mostInASecond)),
      rows: last.rows,
      mib: middle(known(list, "mib")),
      descriptors:
        descriptors.length === 0 ? null : `${Math.min(...descriptors)}–${Math.max(...descriptors)}`,
      cpu: spent === null ? null : spent / sum(own.slice(1).map((sample) => sample.seconds)),
      list,
    };
  });
}

/** Descriptors of a run besides its connections, at most: files, the cache, those of Node.js. */
const ownDescriptors = 40;

/**
 * What is wrong with a night.
 *
 * @param isLong phases are long enough to judge pace and memory
 */
export function faultsFound(night, isLong) {
  return [...wrongCounts(night), ...(isLong ? unevenness(night) : [])];
}

function wrongCounts({ ended, counts, manifest, samples, rows, concurrency }) {
  const faults = [];
  const check = (right, text) => void (right || faults.push(text));
  const { statuses, output, requests, sources, resumed } = manifest;
  check(ended === 0, `the program ended with ${ended}`);
  check(output.rows === rows, `${output.rows} of ${rows} rows`);
  check(statuses.complete === rows, `rows by status: ${JSON.stringify(statuses)}`);
  check(sources.live + sources.duplicate + sources.cache === rows, JSON.stringify(sources));
  check(resumed === 1, `resumed ${resumed} times instead of once`);
  // Only what was open when the program was killed may be asked again.
  const again = counts.answered - 2 * rows;
  check(again >= 0 && again <= concurrency, `${again} lookups were answered twice`);
  const outcomes = (name) =>
    sum(Object.values(requests).map((endpoint) => endpoint.outcomes[name] ?? 0));
  const near = (name, expected) => {
    const off = Math.abs(outcomes(name) - expected);
    check(off <= concurrency, `${outcomes(name)} answers ${name}, but ${expected} were sent`);
  };
  const sent = (name) => counts.byOutcome[name] ?? 0;
  near("200", sent("answer") + sent("late") + sent("HTML page") + sent("other item"));
  near("429", sent("429"));
  near("500", sent("error 500"));
  near("503", sent("503") + sent("partial"));
  const descriptors = known(samples, "descriptors");
  check(
    descriptors.every((n) => n <= concurrency + ownDescriptors),
    `${Math.max(...descriptors)} descriptors`,
  );
  return faults;
}

/**
 * Pace and memory that are not even. On a busy machine, programs wait for a processor: requests arrive in
 * bunches, so their pace is not judged.
 */
function unevenness({ samples, phases, rate }) {
  const faults = [];
  if (!isBusy(samples)) faults.push(...unevenPace(samples, phases, rate));
  for (const pid of new Set(samples.map((sample) => sample.pid))) {
    const own = samples.filter((sample) => sample.pid === pid);
    const half = Math.floor(own.length / 2);
    const [early, late] = [own.slice(0, half), own.slice(half)];
    for (const name of ["mib", "descriptors"]) {
      const [before, after] = [early, late].map((part) => Math.max(...known(part, name)));
      if (after > 1.15 * before) faults.push(`${name} grew from ${before} to ${after}`);
    }
  }
  return faults;
}

/** Whether the machine had more to do than processors. */
export function isBusy(samples) {
  return middle(samples.map(({ load }) => load)) > availableParallelism();
}

function unevenPace(samples, phases, rate) {
  const faults = [];
  const most = Math.max(...samples.map((sample) => sample.mostInASecond));
  if (most > Math.ceil(rate * 1.05)) faults.push(`${most} requests in a second at ${rate}/s`);
  for (const { name, list } of phases.filter((phase) => phase.name === "calm")) {
    // A calm phase recovers from the fault before it.
    const rest = list.slice(Math.ceil(list.length / 2));
    const perSecond = (rest.at(-1).arrived - rest[0].arrived) / sum(rest.slice(1), "seconds");
    if (perSecond < 0.95 * rate) faults.push(`${perSecond.toFixed(1)} requests/s while ${name}`);
  }
  return faults;
}

function known(samples, name) {
  return samples.map((sample) => sample[name]).filter((value) => value !== null);
}

/** The middle one of some values; null of none. */
function middle(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? null;
}

function sum(list, name) {
  return list.reduce((total, each) => total + (name === undefined ? each : each[name]), 0);
}
