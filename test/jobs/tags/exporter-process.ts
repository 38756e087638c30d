import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const program = fileURLToPath(new URL("exporter.mjs", import.meta.url));

export interface ExporterSettings {
  readonly url: string;
  readonly folder: string;
  readonly names: readonly string[];
  /** Number of successive exports. @default 1 */
  readonly rounds?: number;
  readonly parallel?: number;
}

/** The built export in a separate process, which can be killed. */
export interface ExporterProcess {
  readonly child: ChildProcess;
  /** Resolves when it has ended. @throws if it failed, but not if it was killed */
  readonly ended: Promise<void>;
}

/** Starts exports with the built library; calls `onProgress` for each report. */
export function startExporter(
  settings: ExporterSettings,
  onProgress: () => void = () => {},
): ExporterProcess {
  const child = spawn(process.execPath, [program, JSON.stringify(settings)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let faults = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (faults += text));
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    for (const _ of text.matchAll(/\n/g)) onProgress();
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0 || signal === "SIGKILL") resolve();
      else reject(new Error(`the exporter ended with ${code}: ${faults}`));
    });
  });
  return { child, ended };
}
