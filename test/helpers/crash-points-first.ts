import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Starts the files with crash points first: they take longest, and started last they would run alone
 * at the end.
 */
export class CrashPointsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean => moduleId.includes("crash-points");
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
