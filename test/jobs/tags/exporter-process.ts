import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const program = fileURLToPath(new URL("exporter.mjs", import.meta.url));

export interface ExporterSettings {
  readonly url: string;
  readonly folder: string;
  readonly names: readonly string[];
  /** Number of successive exports. */
  readonly rounds: number;
}

/** The built export in a separate process. */
export interface ExporterProcess {
  readonly child: ChildProcess;
  /** Resolves when it has ended. @throws if it failed */
  readonly ended: Promise<void>;
}

/** Starts exports with the built library. */
export function startExporter(settings: ExporterSettings): ExporterProcess {
  const child = spawn(process.execPath, [program, JSON.stringify(settings)], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let faults = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (faults += text));
  const ended = new Promise<void>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0 || signal === "SIGKILL") resolve();
      else reject(new Error(`the exporter ended with ${code}: ${faults}`));
    });
  });
  return { child, ended };
}
