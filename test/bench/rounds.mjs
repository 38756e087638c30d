// @ts-check
import { runProgram } from "./run-program.mjs";

/**
 * @typedef {import("./contestants.mjs").Contestant} Contestant
 * @typedef {import("./run-program.mjs").Run} Run
 */

/**
 * A contestant and its runs, one of each round; none where it is not installed.
 *
 * @typedef {object} Standing
 * @property {Contestant} contestant
 * @property {Run[]} runs
 */

/**
 * Lets the contestants run in turn, A B A B …, so that whatever else the machine does meets them all.
 *
 * @param {readonly Contestant[]} contestants
 * @param {{ repeat: number, folder: string, signal?: AbortSignal | undefined, onRun: (text: string) => void }} options
 * @returns {Promise<Standing[]>}
 */
export async function inTurn(contestants, { repeat, folder, signal, onRun }) {
  /** @type {Standing[]} */
  const standings = contestants.map((contestant) => ({ contestant, runs: [] }));
  for (let round = 1; round <= repeat; round++) {
    for (const { contestant, runs } of standings) {
      const { command, peak = true } = contestant;
      if (command === null) continue;
      onRun(`${contestant.name}, ${round} of ${repeat}`);
      await contestant.prepare?.();
      runs.push(await runProgram(command, { folder, signal, peak }));
    }
  }
  return standings;
}
