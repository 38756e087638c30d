import { printSummary } from "../../src/cli/commands/runs/summary.js";
import { Reporter } from "../../src/cli/terminal/reporter.js";
import type { Manifest } from "../../src/core/manifest.js";
import { failOn } from "../../src/jobs/enrich/failure-limits.js";
import { fakeContext, FakeStream } from "../cli/fake-context.js";

type Settings = Omit<Parameters<typeof printSummary>[1]["settings"], "json" | "quiet" | "failOn">;

/** The summary of a run, as a terminal of this width shows it. */
export async function summary(of: Manifest, width: number, settings: Settings = {}) {
  const stderr = new FakeStream(width);
  const context = { ...fakeContext(), stderr, reporter: new Reporter(stderr) };
  const own = { json: false, quiet: false, failOn: failOn().parse("failed"), ...settings };
  await printSummary(of, { settings: own, context });
  return stderr.text.trimEnd();
}
