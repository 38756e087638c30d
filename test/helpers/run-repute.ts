import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const program = fileURLToPath(new URL("../../dist/program/repute.js", import.meta.url));

export interface RunReputeOptions {
  /** Variables beside the process's own, of which those of repute are taken away. */
  readonly env?: Readonly<Record<string, string>>;
  /** What is piped in; by default nothing, and stdin is at its end at once. */
  readonly stdin?: string | Buffer;
  readonly cwd?: string;
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
  /** Resolves with the match when stdout or stderr holds it; rejects when the program ends before. */
  readonly waitFor: (stream: "stdout" | "stderr", pattern: RegExp) => Promise<RegExpExecArray>;
  readonly result: Promise<RunReputeResult>;
}

/** Runs the built program to its end, as a user would. */
export function runRepute(
  args: readonly string[],
  options: RunReputeOptions = {},
): Promise<RunReputeResult> {
  const running = startRepute(args, options);
  running.child.stdin?.end(options.stdin ?? "");
  return running.result;
}

/** Starts the built program and leaves its stdin open; it is killed when the test ends. */
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
  // A program that ends before it has read everything is what some tests are about.
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

function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("REPUTE_")),
  );
}
