import { spawn, type ChildProcess } from "node:child_process";
import { onTestFinished } from "vitest";

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
  const child = spawn(
    process.execPath,
    ["--input-type=module", "--eval", program, JSON.stringify(settings)],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
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

const built = new URL("../../../../dist/", import.meta.url).href;

const program = `
import { IntelClient } from "${built}api/intel-client.js";
import { createDispatcher } from "${built}api/http/dispatcher.js";
import { systemClock as clock } from "${built}core/clock.js";
import { exportTags } from "${built}tags/export-tags.js";
import { openWithheld } from "${built}lookup/withheld.js";

const { url, folder, names, rounds = 1, parallel = 1 } = JSON.parse(process.argv[1]);
const dispatcher = createDispatcher(url, { connections: 4 });
const client = new IntelClient({ baseUrl: url, dispatcher, clock });
const withheld = await openWithheld({ bogons: "ask" });
for (let round = 0; round < rounds; round++) {
  const report = await exportTags({
    client, names, folder, withheld, clock, parallel,
    onProgress: ({ tag, state }) => process.stdout.write(tag + " " + state + "\\n"),
  });
  if (report.failed > 0) throw new Error(JSON.stringify(report.tags));
}
await dispatcher.close();
`;
