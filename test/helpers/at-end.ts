import { afterAll, onTestFinished } from "vitest";

/** Does this when the test ends, or, at the top of a file, when its last test has. */
export function atEnd(act: () => Promise<unknown> | void): void {
  try {
    onTestFinished(async () => void (await act()));
  } catch {
    afterAll(async () => void (await act()));
  }
}
