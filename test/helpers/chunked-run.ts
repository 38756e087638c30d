import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { enrichOptions, inGroups } from "../../src/run/options.js";
import { mergeWork } from "../../src/cluster/chunks/merge-work.js";
import { type ChunkEnd, type ChunkJob, runChunk } from "../../src/cluster/chunks/run-chunk.js";
import { splitWork } from "../../src/cluster/chunks/split-work.js";
import { localWork } from "../../src/cluster/chunks/work-folder.js";
import { readPlan } from "../../src/cluster/chunks/work-plan.js";
import type { Manifest } from "../../src/core/manifest/manifest.js";
import { sessionHere } from "./job-here.js";
import { temporaryFolder } from "./temporary-folder.js";
import { closing } from "./enrich-here.js";

export type Settings = Readonly<Record<string, unknown>>;

/** An input that is divided, enriched chunk by chunk and merged, in this process. */
export class ChunkedRun {
  readonly folder: string;
  readonly input: string;
  readonly work;
  readonly #settings: Settings;

  private constructor(folder: string, name: string, settings: Settings) {
    this.folder = folder;
    this.input = join(folder, name);
    this.work = localWork(join(folder, "work"));
    this.#settings = settings;
  }

  /** Writes the input. */
  static async of(name: string, content: string | Buffer, settings: Settings): Promise<ChunkedRun> {
    const run = new ChunkedRun(await temporaryFolder(), name, settings);
    await writeFile(run.input, content);
    return run;
  }

  split(rowsPerChunk: number, to?: "parquet") {
    const { input, work } = this;
    const settings = { ...enrichOptions.parse({ bogons: "ask", ...this.#settings }), rowsPerChunk };
    const { signal } = new AbortController();
    const planned = { ...settings, to: (to ?? settings.to) as "csv" };
    return splitWork({ input: { path: input }, work, settings: planned, signal });
  }

  async enrich(chunk: number, more: Settings = {}, job: Partial<ChunkJob> = {}): Promise<ChunkEnd> {
    const settings = enrichOptions.parse({ bogons: "ask", ...this.#settings, ...more });
    const session = sessionHere(settings, { stateFolder: null });
    const whole = { ...aJob(), session, ...job, settings: inGroups(settings) };
    return closing(session, runChunk(whole, this.work, await readPlan(this.work), chunk));
  }

  /** Does all chunks, the last one first. */
  async enrichAll(): Promise<void> {
    const { chunks } = await readPlan(this.work);
    for (const { chunk } of chunks.toReversed()) await this.enrich(chunk);
  }

  async merge(name: string, more: Settings = {}): Promise<Manifest> {
    const { work } = this;
    const output = name.startsWith("duckdb:") ? name : join(this.folder, name);
    const settings = enrichOptions.parse({ bogons: "ask", ...this.#settings, ...more, output });
    return mergeWork({ ...aJob(), work, plan: await readPlan(work), settings });
  }

  read(name: string): Promise<string> {
    return readText(join(this.folder, name));
  }
}

function aJob() {
  const { signal } = new AbortController();
  return { stdout: new PassThrough(), command: [], signal, stateFolder: null };
}

async function readText(path: string): Promise<string> {
  const bytes = await readFile(path);
  return (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString();
}

/** Columns that differ from run to run. */
const ofOneRun = ["source", "attempts", "looked_up_at"];

/** The rows of an output without what differs from run to run; a CSV's header comes first. */
export function comparable(text: string): readonly unknown[] {
  if (text.startsWith("{")) {
    const rows = text.trimEnd().split("\n");
    return rows.map((row) => {
      const { rep, ...rest } = JSON.parse(row) as { readonly rep: Settings };
      return [rest, Object.entries(rep).filter(([name]) => !ofOneRun.includes(name))];
    });
  }
  const records: string[][] = parse(text, { relax_column_count: true });
  const skipped = new Set(ofOneRun.map((name) => records[0]?.indexOf(`rep_${name}`)));
  return records.map((record) => record.filter((_, index) => !skipped.has(index)));
}

/** The counts of a manifest that do not depend on how the run was divided. */
export function comparableCounts(manifest: Manifest) {
  const { input, statuses, verdicts, kinds, unsupported, errors, tags, warnings } = manifest;
  const { synthetic } = manifest;
  return { input, statuses, verdicts, kinds, unsupported, errors, tags, warnings, synthetic };
}
