import { printSummary } from "../../src/cli/commands/runs/summary.js";
import { Reporter } from "../../src/cli/terminal/reporter.js";
import type { Manifest } from "../../src/core/manifest.js";
import { parseOutput } from "../../src/io/output/registry.js";
import { enrichOptions } from "../../src/jobs/enrich/options.js";
import { fakeContext, FakeStream } from "../cli/fake-context.js";

type Settings = Parameters<typeof printSummary>[1]["settings"];

/** The summary of a run, as a terminal of this width shows it. */
export async function summary(of: Manifest, width: number, settings: Partial<Settings> = {}) {
  const stderr = new FakeStream(width);
  const context = { ...fakeContext(), stderr, reporter: new Reporter(stderr) };
  const usual = { ...enrichOptions.parse({}), output: parseOutput("out.csv") };
  const own = { ...usual, json: false, quiet: false, ...settings };
  await printSummary(of, { settings: own, context });
  return stderr.text.trimEnd();
}
