import { errorText } from "../../../src/cli/terminal/reporter.js";
import { exitCodeOfError } from "../../../src/cli/exit-code.js";
import { commandNamed } from "../../../src/cli/command-list.js";
import { runProgram } from "../../../src/cli/program.js";
import { ManualClock } from "../../helpers/manual-clock.js";
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
  const { stdout, stderr, reporter } = context;
  let code: number;
  try {
    code = await clock.run(runProgram(args, context));
  } catch (error) {
    const command = commandNamed(args);
    reporter.print(errorText(error, { command, debug: false }));
    code = exitCodeOfError(error);
  }
  return { code, stdout: stdout.text, stderr: stderr.text, pauses: clock.asked };
}
