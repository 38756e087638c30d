import type { WorkFolder } from "../chunks/work-folder.js";

/** Names of the files that each tell of a resume. */
export const resumeName = /^resumed-(\d+)$/;

/** Notes in a work folder that its run is resumed. @returns how often it was */
export async function countResume(work: WorkFolder): Promise<number> {
  const counts = (await work.list()).map((name) => Number(resumeName.exec(name)?.[1] ?? 0));
  const count = Math.max(0, ...counts) + 1;
  await work.publish(`resumed-${count}`, "\n");
  return count;
}
