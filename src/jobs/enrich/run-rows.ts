import { counted } from "../../core/wording/quantity.js";
import { EarlyEndError, FatalError } from "../../core/errors.js";
import { endingOfError } from "./ending.js";
import type { UnsupportedCode } from "../../core/item/item.js";
import { surplusCells } from "../../core/row.js";
import { withResources } from "../../core/resource-stack.js";
import { shownColumns } from "../../io/formats/columns/name-columns.js";
import { insideWarning } from "./elsewhere.js";
import type { OpenedSource } from "../../io/input/types.js";
import { unasked } from "../../core/finding.js";
import { rowCodes } from "../../core/row-codes.js";
import { leastRows } from "./failure-limits.js";
import { hasFewerRows, firstRows, startRow } from "./rows/reading.js";
import { manifestOf, publish } from "./finish/publish.js";
import { openRequests } from "../../client/lookup/options.js";
import { openRunLookup, type RunLookup } from "./run-lookup.js";
import { Checkpointer, saveUnfinished } from "./state/checkpoint.js";
import type { Manifest, FoundManifest } from "../../core/manifest.js";
import { RunSignals } from "./run-signals.js";
import type { RunProgress } from "./types.js";
import { type CountedWarning, valueWarnings } from "./counters.js";
import { moveRows } from "./rows/move-rows.js";
import { type OpenRun, openRun, type RunPlace } from "./open-run.js";
import type { TallySnapshot } from "./tally.js";
import { existsSync } from "node:fs";
import type { CheckedOutput } from "../../io/output/publisher.js";
import type { OutputTarget } from "./destination/choose-output.js";
import { stageFile } from "./destination/open-output.js";
import { stageUpTo } from "../../io/output/stage.js";
import { storedManifest } from "../../io/output/manifest-file.js";
import { previousOutputs } from "./finish/previous-outputs.js";

/** Opens input, output and lookup, moves the rows and publishes them. Closes everything, however it ends. */
export function runRows(place: RunPlace): Promise<Manifest> {
  return withResources(async (stack) => {
    const run = await openRun(place, stack);
    const { job } = run;
    let lookup: RunLookup | null = null;
    let saving: Checkpointer | null = null;
    try {
      const signals = new RunSignals(job);
      stack.defer(() => signals.close());
      const opened = await openRunLookup(run, signals, stack);
      lookup = opened;
      const record = (): Manifest => manifestOf({ ...run, checkpointer });
      const { answers, slots, address } = opened;
      const { startedAt } = job;
      const checkpointer: Checkpointer = new Checkpointer({ ...run, startedAt, answers, record });
      saving = checkpointer;
      const { before, source, tally } = run;
      // A run that continues may have published already: it would take itself for the earlier one.
      if (before === null) tally.facts.earlier_rows = await earlierRows(run.target, run.checked);
      // Without a checkpoint, answers are those of an earlier run.
      await checkpointer.save();
      const { limit, minRows } = job.settings.run;
      const isRefused = await hasFewerRows(leastRows(minRows, tally.facts.earlier_rows), job);
      const start = (job.refill?.start ?? startRow)(
        isRefused ? () => Promise.resolve(notAsked) : opened.lookup,
      );
      // The rest of a record whose first rows are written is read again.
      const from = before?.source ?? { row: 0, offset: 0 };
      let rowsRead = tally.rows;
      let received = from.row;
      job.onStart?.(() => progressOf(run, opened, received), record);
      await moveRows({
        ...run,
        source: limit === undefined ? source : { rows: firstRows(source.rows, limit, from.row) },
        start: run.leftOut?.noting(start) ?? start,
        leftOut: run.leftOut?.reason,
        concurrency: openRequests(job.settings.lookup),
        slots,
        signals,
        written: rowsRead,
        startOffset: from.offset,
        onReceived: (count) => void (received += count),
        onRead: () => void rowsRead++,
        onWritten: (recordEnd, last) => checkpointer.written(recordEnd, last),
      });
      const warnings = closingWarnings(run, address.warnings());
      return await publish({ ...run, checkpointer, warnings, rowsRead, isRefused });
    } catch (error) {
      if (saving !== null && error instanceof EarlyEndError) await publishSoFar(run, saving, error);
      await run.sink.abandon();
      dropUselessState(run, lookup, error);
      const removed = (await place.state?.saveRemoved()) ?? null;
      if (saving !== null) {
        await saveUnfinished(run.folder, manifestOf({ ...run, checkpointer: saving }));
      }
      throw removed ?? error;
    }
  });
}

function progressOf(
  { tally, source }: OpenRun,
  { pausedMs, isAway }: RunLookup,
  rowsRead: number,
): RunProgress {
  return {
    rowsRead,
    rowsWritten: tally.rows,
    requests: tally.requestTotal,
    throttled: tally.throttled,
    pausedSeconds: pausedMs() / 1000,
    isAway: isAway(),
    statuses: tally.statuses,
    verdicts: tally.verdicts,
    bytesRead: source.bytesRead(),
    bytesTotal: source.bytesTotal,
  };
}

/** The finding of items that a run with too few rows does not ask for. */
const notAsked = unasked("failed", { code: "not_asked", message: rowCodes.not_asked[0] });

/** Publishes the rows of a run that stops early. If that fails, they wait for the run to continue. */
async function publishSoFar(
  run: OpenRun,
  checkpointer: Checkpointer,
  end: EarlyEndError,
): Promise<void> {
  const { job, publisher, target } = run;
  if (publisher?.takesParts !== true) return;
  try {
    // A table must not have more rows than a resume knows of.
    const checkpoint = await checkpointer.save();
    if (checkpoint === null) return;
    const soFar = { ...manifestOf({ ...run, checkpointer }), ...endingOfError(end, true) };
    const stage = stageUpTo(stageFile(target, run.folder), checkpoint.sink);
    const at = Date.parse(soFar.ended_at);
    await publisher.publish(stage, { suffix: "", at, manifest: () => soFar });
  } catch (error) {
    job.onWarning?.(`the rows so far are not in ${target.name} yet: ${(error as Error).message}`);
  }
}

/** Drops the state of a failed run if there is nothing to continue. */
function dropUselessState(
  { state, before, tally }: OpenRun,
  lookup: RunLookup | null,
  error: unknown,
): void {
  // A run without workers waits for some to come.
  const waits = error instanceof FatalError && error.code === "workers_away";
  const isIdle = before === null && tally.rows === 0 && !tally.answered && !waits;
  // The journal holds only 404s, which a run with the right address must not replay.
  // Nor would another run want the answers of a service that the table does not take.
  const isWrongService =
    error instanceof FatalError && ["wrong_service", "made_up_rows"].includes(error.code);
  const isUseless = isWrongService && (before === null || lookup?.address.found === false);
  if (state !== null && (isIdle || isUseless)) state.resumable = false;
}

/** Share of rows without an indicator from which the item column is probably wrong. */
const unlikelyShare = 0.9;

/** Reason codes of cells that were never meant as indicators. */
const noIndicator: readonly UnsupportedCode[] = [
  "empty",
  "text",
  "control_character",
  "not_text",
  "hex_length",
];

/** Warnings about the run as a whole: the input, the service's address, the item column. */
function closingWarnings(
  { job, source, tally }: OpenRun,
  ofAddress: readonly string[],
): readonly CountedWarning[] {
  const counts = tally.snapshot();
  const { columns } = job.settings.output;
  const losesCells =
    columns !== undefined && !columns.includes("extra") && counts.warnings[surplusCells];
  const messages = [
    tally.rows === 0 && "the input has no rows",
    ...ofAddress,
    unlikelyColumn(source, counts),
    insideWarning(job.input, counts),
    losesCells &&
      "cells of rows with more cells than columns are not in the output; add extra to --columns to keep them",
  ].filter((message) => typeof message === "string");
  // Those about values are counted already, row by row.
  for (const message of [...messages, ...valueWarnings(counts)]) job.onWarning?.(message);
  return [...source.warnings, ...messages.map((message): CountedWarning => [message, 1])];
}

/** Warning for a run with almost nothing to look up, which probably read the wrong column. */
function unlikelyColumn(
  { reading: { format, items }, notices }: Pick<OpenedSource, "reading" | "notices">,
  { rows, unsupported }: Pick<TallySnapshot, "rows" | "unsupported">,
): string | null {
  const idle = noIndicator.reduce((sum, code) => sum + (unsupported[code] ?? 0), 0);
  if (idle === 0 || idle < rows * unlikelyShare) return null;
  const have = `${idle} of ${counted(rows, "row")} ${idle === 1 ? "has" : "have"} no indicator`;
  if (notices !== undefined) return `${have}; choose the column with --item-column`;
  return format === "text"
    ? `${have}; the input was read as one item per line; set its format with --from`
    : `${have} in column ${shownColumns(items)}; choose another with --item-column`;
}

/**
 * Rows of the output before a run's: the one that it replaces, the last run in its table, or the newest
 * earlier one of the same `{date}` pattern. Undefined for none.
 *
 * @param checked what the check of its output found
 */
async function earlierRows(
  target: OutputTarget,
  checked: Pick<CheckedOutput, "earlierRows">,
): Promise<number | undefined> {
  const { output } = target;
  const own = checked.earlierRows ?? (await replacedRows(target));
  if (own !== undefined || output.pattern === null) return own;
  for (const previous of await previousOutputs(output.pattern, output)) {
    const rows = rowsIn(await storedManifest(previous));
    if (rows !== undefined) return rows;
  }
  return undefined;
}

/** Rows of the file or object that will be replaced, by its manifest. */
async function replacedRows({ output, file, upload }: OutputTarget): Promise<number | undefined> {
  const isThere =
    upload === undefined ? file !== null && existsSync(file) : await upload.replaces();
  return isThere ? rowsIn(await storedManifest(output)) : undefined;
}

/** Rows that a run read: with `--only`, its output has fewer. */
function rowsIn(manifest: FoundManifest | null): number | undefined {
  return manifest?.input?.rows ?? manifest?.output?.rows;
}
