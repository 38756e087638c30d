import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { enrich } from "../../src/jobs/enrich/execute.js";
import type { Manifest } from "../../src/core/manifest.js";
import type { EnrichJob } from "../../src/jobs/enrich/types.js";
import { enrichOptions } from "../../src/jobs/enrich/options.js";
import type { Session } from "../../src/client/session/session.js";
import { jobHere, sessionHere } from "./job-here.js";
import { temporaryFolder } from "./temporary-folder.js";

type FromJob =
  | "clock"
  | "signal"
  | "onStart"
  | "onPublished"
  | "onFinished"
  | "onWarning"
  | "onNotice";

export interface EnrichHereOptions extends Partial<Pick<EnrichJob, FromJob>> {
  /** Name and text of the input. */
  readonly input: readonly [name: string, text: string | Buffer];
  /** Name of the output file. @default `out.csv` */
  readonly output?: string;
  readonly intelUrl: string;
  /** Settings as in a configuration file. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** @default one for this run */
  readonly session?: Session;
  /** @default a new folder */
  readonly folder?: string;
}

/** A run in this process. */
export interface EnrichedHere {
  readonly folder: string;
  readonly manifest: Manifest;
  /** The output's bytes as text. */
  readonly text: string;
  /** The records of a CSV output by column. */
  readonly records: () => Record<string, string>[];
}

/** Runs the main job in this process on a file written for it. */
export async function enrichHere({
  input: [name, text],
  output: outputName = "out.csv",
  intelUrl,
  session: shared,
  folder: given,
  settings: own,
  ...job
}: EnrichHereOptions): Promise<EnrichedHere> {
  const folder = given ?? (await temporaryFolder());
  const [path, output] = [join(folder, name), join(folder, outputName)];
  await writeFile(path, text);
  const settings = { bogons: "ask", intelUrl, output, ...own };
  const { clock, onWarning } = job;
  const told = { ...(clock && { clock }), ...(onWarning && { onWarning }) };
  const session = shared ?? sessionHere(enrichOptions.parse(settings), told);
  const run = enrich(jobHere({ ...job, settings, session, input: { path } }));
  const manifest = await (shared === undefined ? closing(session, run) : run);
  const written = await readFile(output, "utf8");
  return { folder, manifest, text: written, records: () => parse(written, { columns: true }) };
}

/** Closes a session once a run has ended. */
async function closing<T>(session: Session, run: Promise<T>): Promise<T> {
  try {
    return await run;
  } finally {
    await session.close();
  }
}
