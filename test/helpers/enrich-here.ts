import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import type { Clock } from "../../src/core/clock.js";
import { enrich } from "../../src/jobs/enrich/execute.js";
import type { Manifest } from "../../src/core/manifest.js";
import type { EnrichJob } from "../../src/jobs/enrich/types.js";
import { enrichOptions } from "../../src/jobs/enrich/options.js";
import type { Session } from "../../src/client/session/session.js";
import { jobHere, sessionHere } from "./job-here.js";
import { temporaryFolder } from "./temporary-folder.js";

export interface EnrichHereOptions {
  /** Name and text of the input. */
  readonly input: readonly [name: string, text: string | Buffer];
  /** Name of the output file. @default `out.csv` */
  readonly output?: string;
  readonly intelUrl: string;
  /** Settings as in a configuration file. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly clock?: Clock;
  /** @default one for this run */
  readonly session?: Session;
  readonly answered?: boolean;
  readonly signal?: AbortSignal;
  readonly onStart?: EnrichJob["onStart"];
  readonly onFinished?: (lastStep: () => void) => void;
  readonly onWarning?: (message: string) => void;
  readonly onNotice?: (message: string) => void;
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
export async function enrichHere(options: EnrichHereOptions): Promise<EnrichedHere> {
  const folder = options.folder ?? (await temporaryFolder());
  const [name, text] = options.input;
  const input = join(folder, name);
  const output = join(folder, options.output ?? "out.csv");
  await writeFile(input, text);
  const { intelUrl, session: shared, clock, onWarning } = options;
  const settings = { bogons: "ask", intelUrl, output, ...options.settings };
  const session =
    shared ??
    sessionHere(enrichOptions.parse(settings), {
      ...(clock && { clock }),
      ...(onWarning && { onWarning }),
    });
  const { signal, onStart, onFinished, onNotice, answered } = options;
  const job = jobHere({
    settings,
    session,
    input: { path: input },
    ...(signal && { signal }),
    ...(clock && { clock }),
    ...(answered && { answered }),
    ...(onStart && { onStart }),
    ...(onFinished && { onFinished }),
    ...(onWarning && { onWarning }),
    ...(onNotice && { onNotice }),
  });
  const manifest = await (shared === undefined ? closing(session, enrich(job)) : enrich(job));
  const written = await readFile(output, "utf8");
  return {
    folder,
    manifest,
    text: written,
    records: () => parse(written, { columns: true }),
  };
}

/** Closes a session once a run has ended. */
async function closing<T>(session: Session, run: Promise<T>): Promise<T> {
  try {
    return await run;
  } finally {
    await session.close();
  }
}
