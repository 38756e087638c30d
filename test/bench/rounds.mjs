// @ts-check
import { runProgram } from "./run-program.mjs";

/**
 * @typedef {import("./contestants.mjs").Contestant} Contestant
 * @typedef {import("./run-program.mjs").Run} Run
 */

/**
 * A contestant and its runs, one per round; none if it is not installed.
 *
 * @typedef {object} Standing
 * @property {Contestant} contestant
 * @property {Run[]} runs
 */

/**
 * Alternates the contestants, A B A B …, so that other load on the machine affects all of them.
 *
 * @param {readonly Contestant[]} contestants
 * @param {{ repeat: number, folder: string, signal?: AbortSignal | undefined, onRun: (text: string)
 *   => void }} options
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
