import { rmSync } from "node:fs";
import { FatalError, UsageError } from "../../core/errors.js";
import { startOver } from "../../core/error-codes/remedies.js";
import { openSealedJson, sealJson } from "../../core/files/json-file.js";
import { realPath } from "../../core/files/real-path.js";
import { inputPaths } from "../../inputs/types.js";
import { compareFingerprints, type Fingerprint } from "../../run/state/fingerprint.js";
import { openStateFolder } from "../../run/state/state-folder.js";
import type { Manifest } from "../../core/manifest/manifest.js";
import type { EnrichJob } from "../../run/types.js";
import type { WorkFolder } from "../chunks/work-folder.js";
import { finishedName, planName, type WorkPlan } from "../chunks/work-plan.js";
import { type DividedRun, fingerprintOf } from "./divided-run.js";

/** A run whose output is published; only its work folder is left to be emptied. */
interface FinishedRun {
  readonly fingerprint?: Fingerprint | undefined;
  readonly manifest: Manifest;
}

/**
 * Finds or discards what an earlier run left in a work folder. Returns the manifest of a run that has
 * finished but for its cleaning, unless the command or the input has changed since.
 *
 * @throws UsageError `state_exists`; FatalError `work_unreadable`
 */
export async function findWork(work: WorkFolder, run: DividedRun): Promise<Manifest | null> {
  const { job, target, base } = run;
  const { resume, restart } = job.settings.run;
  const hasPlan = (await work.read(planName)) !== null;
  if (!resume && !restart && (hasPlan || (await work.read(finishedName)) !== null)) {
    throw new UsageError("state_exists", `an interrupted run exists in ${work.name}`, {
      hint: "continue it with --resume, or discard it with --restart",
    });
  }
  const finished = resume ? await readFinished(work) : null;
  if (finished !== null) {
    const now = await fingerprintOf(run);
    const { differences } = await compareFingerprints(finished.fingerprint ?? now, now, job.input);
    if (differences.length === 0) return finished.manifest;
    job.onWarning?.(
      `the run in ${work.name} has finished; options or input have changed since, so a new run starts now`,
    );
  }
  // The merge would find out only in the end.
  const state = await openStateFolder(base, { resume: false, restart: false, name: target.name });
  await state.remove();
  if (restart || finished !== null || (resume && !hasPlan)) {
    await clearWork(work, job);
    await work.remove(finishedName);
  }
  return null;
}

/** Records that the output is published: from here on, a resume only empties the work folder. */
export async function markFinished(
  work: WorkFolder,
  { fingerprint }: WorkPlan,
  manifest: Manifest,
): Promise<void> {
  await work.publish(
    finishedName,
    `${sealJson({ fingerprint, manifest } satisfies FinishedRun)}\n`,
  );
}

async function readFinished(work: WorkFolder): Promise<FinishedRun | null> {
  const text = await work.read(finishedName);
  if (text === null) return null;
  const finished = openSealedJson(text) as FinishedRun | null;
  if (finished !== null) return finished;
  throw new FatalError("work_unreadable", `${work.address(finishedName)} is damaged`, {
    hint: startOver,
  });
}

/** Removes the mark of a finished run, as the last step: until here, a resume finds it. */
export async function removeMark(
  work: WorkFolder,
  { onFinished = (lastStep) => lastStep() }: EnrichJob,
): Promise<void> {
  if (work.isRemote) await work.remove(finishedName);
  else onFinished(() => rmSync(work.pathOf(finishedName), { force: true }));
}

/** Names of the files that each tell of a resume. */
const resumeName = /^resumed-(\d+)$/;

/** Notes in a work folder that its run is resumed. @returns how often it was */
export async function countResume(work: WorkFolder): Promise<number> {
  const counts = (await work.list()).map((name) => Number(resumeName.exec(name)?.[1] ?? 0));
  const count = Math.max(0, ...counts) + 1;
  await work.publish(`resumed-${count}`, "\n");
  return count;
}

/** What runs write into a work folder besides the mark. */
const own =
  /^(?:chunk-\d{5,}\..*|(?:plan|finished)\.json\..*|run\.json(?:\..*)?|resumed-\d+(?:\..*)?|input(?:\..*)?)$/;

/** Removes it; the plan first: without it, the rest means nothing. An input that is there stays. */
export async function clearWork(work: WorkFolder, { input }: EnrichJob): Promise<void> {
  const read = new Set(inputPaths(input).map(realPath));
  await work.remove(planName);
  for (const name of await work.list()) {
    if (own.test(name) && !read.has(realPath(work.address(name)))) await work.remove(name);
  }
}
