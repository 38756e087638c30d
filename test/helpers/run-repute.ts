import { type ChildProcess, spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import { runToEnd as runSources } from "../../src/cli/command-line/command-line.js";
import { type Clock, systemClock } from "../../src/core/clock.js";
import { programInfo } from "../../src/core/program.js";
import { fakeContext } from "../cli/fake-context.js";
import { program } from "./shell.js";

export interface RunReputeOptions {
  /** Variables in addition to the process's own, from which those of repute are removed. */
  readonly env?: Readonly<Record<string, string>>;
  /** Input to pipe in. By default stdin is empty. */
  readonly stdin?: string | Buffer;
  readonly cwd?: string;
  /** Aborts the run like a signal. Not for a process of its own. */
  readonly signal?: AbortSignal;
  /** Not for a process of its own. @default the system clock */
  readonly clock?: Clock;
  /** Not for a process of its own. @default that of the sources */
  readonly runToEnd?: typeof runSources;
  /** Runs the built program in a separate process. @default false */
  readonly ownProcess?: boolean;
}

export interface RunReputeResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The built program while it runs. */
export interface RunningRepute {
  readonly child: ChildProcess;
  /**
   * Resolves with the match once stdout or stderr contains it; rejects if the program ends first.
   */
  readonly waitFor: (stream: "stdout" | "stderr", pattern: RegExp) => Promise<RegExpExecArray>;
  readonly result: Promise<RunReputeResult>;
}

/** Runs the program to its end like a user, but in this process, which is ten times as fast. */
export function runRepute(
  args: readonly string[],
  options: RunReputeOptions = {},
): Promise<RunReputeResult> {
  if (options.ownProcess === true) {
    const running = startRepute(args, options);
    running.child.stdin?.end(options.stdin ?? "");
    return running.result;
  }
  const result = lastRun.then(() => runHere(args, options));
  lastRun = result.catch(() => undefined);
  return result;
}

/** Runs share this process's folder and environment, so they take turns. */
let lastRun: Promise<unknown> = Promise.resolve();

async function runHere(
  args: readonly string[],
  {
    env = {},
    stdin = "",
    cwd,
    signal = new AbortController().signal,
    clock = systemClock,
    runToEnd = runSources,
  }: RunReputeOptions,
): Promise<RunReputeResult> {
  const [before, folder] = [process.env, process.cwd()];
  process.env = { ...cleanEnvironment(), ...env };
  if (cwd !== undefined) process.chdir(cwd);
  const lastSteps: (() => void)[] = [];
  const context = {
    ...fakeContext({ stdin }),
    version: programInfo().version,
    env: process.env,
    signal,
    clock,
    beforeExit: (step: () => void) => void lastSteps.push(step),
  };
  try {
    const code = await runToEnd(args, context);
    for (const step of lastSteps) step();
    return { code, signal: null, stdout: context.stdout.text, stderr: context.stderr.text };
  } finally {
    process.env = before;
    process.chdir(folder);
  }
}

/** Starts the built program and leaves its stdin open. It is killed when the test ends. */
export function startRepute(
  args: readonly string[],
  options: RunReputeOptions = {},
): RunningRepute {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...cleanEnvironment(), ...options.env },
    stdio: "pipe",
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  // Some tests are about programs that end before they have read all input.
  child.stdin.on("error", () => undefined);
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (chunk: string) => (texts[name] += chunk));
  }
  const result = new Promise<RunReputeResult>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, ...texts }));
  });
  return {
    child,
    result,
    waitFor: (stream, pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(texts[stream]);
          if (match) resolve(match);
        };
        child[stream].on("data", look);
        look();
        result.then(
          () => reject(new Error(`ended before ${stream} held ${pattern}: ${texts.stderr}`)),
          reject,
        );
      }),
  };
}

/** The addresses of tests are those for documentation, which are reserved: they have to be asked. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("REPUTE_"));
  return { ...Object.fromEntries(own), REPUTE_BOGONS: "ask" };
}
