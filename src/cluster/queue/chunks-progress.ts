import { countedVerdicts, findingStatuses } from "../../core/finding.js";
import type { ChunkResult } from "../chunks/chunk-result.js";
import { sumChunks } from "../chunks/merge-manifest.js";
import type { WorkPlan } from "../chunks/work-plan.js";
import { unknownEnding } from "../../run/exit-reason.js";
import { perSecond } from "../../session/connections.js";
import { zeros } from "../../core/row.js";
import type { Manifest, RequestCounts } from "../../core/manifest/manifest.js";
import type { EnrichJob, RunProgress } from "../../run/types.js";

type ProgressJob = Pick<EnrichJob, "session" | "settings" | "command">;

/** Adds up the progress of chunks that are done and of those in progress. */
export class ChunksProgress {
  readonly #plan: WorkPlan;
  readonly #job: ProgressJob;
  readonly #resumed: number;
  readonly #done: Manifest[] = [];
  #rows = 0;
  #bytes = 0;

  /** @param resumed how often the run was resumed */
  constructor(plan: WorkPlan, job: ProgressJob, resumed: number) {
    this.#plan = plan;
    this.#job = job;
    this.#resumed = resumed;
  }

  /** A chunk is done. */
  done({ chunk, rows, manifest }: ChunkResult): void {
    const { start = 0, end = 0 } = this.#plan.chunks[chunk] ?? {};
    this.#done.push(manifest);
    this.#rows += rows;
    this.#bytes += end - start;
  }

  /** @param open progress of the chunks in progress */
  now(open: readonly RunProgress[]): RunProgress {
    const limit = perSecond(this.#job.session.rates);
    const sum = (of: (each: RunProgress) => number): number =>
      open.reduce((total, each) => total + of(each), 0);
    const requests = this.#done.flatMap((manifest) => Object.values(manifest.requests));
    const sumDone = (of: (each: RequestCounts) => number): number =>
      requests.reduce((total, each) => total + of(each), 0);
    const statuses = zeros(findingStatuses);
    const graded = zeros(countedVerdicts);
    for (const each of [...this.#done, ...open]) {
      for (const name of findingStatuses) statuses[name] += each.statuses[name];
      for (const name of countedVerdicts) graded[name] += each.verdicts[name];
    }
    return {
      rowsRead: this.#rows + sum(({ rowsRead }) => rowsRead),
      rowsWritten: this.#rows + sum(({ rowsWritten }) => rowsWritten),
      requests: sumDone(({ total }) => total) + sum((each) => each.requests),
      throttled: sumDone(({ outcomes }) => outcomes["429"] ?? 0) + sum((each) => each.throttled),
      isAway: open.length > 0 && open.every((each) => each.isAway),
      pausedSeconds: Math.max(0, ...open.map((each) => each.pausedSeconds)),
      statuses,
      verdicts: graded,
      lookups: { planned: null, settled: 0, requests: 0 },
      maxPerSecond: Number.isFinite(limit) ? limit : null,
      throttling: "none",
      ends: { requests: null, seconds: null, at: null },
      bytesRead: this.#bytes + sum(({ bytesRead }) => bytesRead),
      bytesTotal: this.#plan.chunks.reduce((total, { start, end }) => total + end - start, 0),
    };
  }

  /** The manifest of the chunks that are done. */
  record(): Manifest {
    const { command, settings } = this.#job;
    const { output: path } = settings.output;
    const format = this.#plan.settings.to;
    return {
      ...sumChunks(this.#plan, this.#done, this.#resumed),
      command,
      output: { path, format, bytes: null, rows: this.#rows, sha256: null },
      ended_at: new Date().toISOString(),
      ...unknownEnding,
    };
  }
}
