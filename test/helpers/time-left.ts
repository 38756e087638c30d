import type { Attempt } from "../../src/core/finding.js";
import { complete, failed, partial } from "../client/lookup/attempts.js";
import type { MeteredRun } from "./run-simulation.js";

/** The last lookups wait for their retries, which no rate tells: 3 s are always within 15%. */
const leastLeft = 20;

/**
 * How far off the time left is at each moment, as a share of it.
 *
 * @param from first moment to judge, in seconds. Default the end of the first tenth of the run
 */
export function timeLeftErrors(
  { moments, seconds }: MeteredRun,
  from = seconds / 10,
): readonly number[] {
  return moments
    .filter((moment) => moment.seconds >= from)
    .map((moment) => {
      const left = seconds - moment.seconds;
      return Math.abs((moment.secondsLeft ?? 0) - left) / Math.max(left, leastLeft);
    });
}

/** A service that has 5% of its answers only in part and is unavailable for 3%. */
export function unreliable(
  random: () => number,
  policy: "transient" | "throttled" = "throttled",
): () => Attempt {
  return () => {
    const luck = random();
    if (luck < 0.05) return partial({ item: "a.example.com" }, ["intent"]);
    return luck < 0.08 ? failed("http_503", policy, null, 503) : complete();
  };
}

/** A service that says "unavailable" beyond a number of requests per second. */
export function limitedTo(perSecond: number): (atMs: number) => Attempt {
  let second = 0;
  let count = 0;
  return (atMs) => {
    if (Math.floor(atMs / 1000) !== second) count = 0;
    second = Math.floor(atMs / 1000);
    count++;
    return count > perSecond ? failed("http_503", "throttled", null, 503) : complete();
  };
}
