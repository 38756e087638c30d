import { runToEnd } from "../../src/cli/command-line/command-line.js";
import { ManualClock } from "../helpers/manual-clock.js";
import { fakeContext, type FakeContextOptions } from "./fake-context.js";

export interface ProcessResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Pauses that were asked for, in milliseconds; none of them takes any time. */
  readonly pauses: readonly number[];
}

/** Runs the program within the test, as `main` would, on a clock that waits for nothing. */
export async function runInProcess(
  args: readonly string[],
  options: FakeContextOptions = {},
): Promise<ProcessResult> {
  const clock = new ManualClock();
  const context = { ...fakeContext(options), clock };
  const { stdout, stderr } = context;
  const code = await clock.run(runToEnd(args, context));
  return { code, stdout: stdout.text, stderr: stderr.text, pauses: clock.asked };
}
