import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runRepute, type RunReputeResult } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { root } from "../docs/pages.js";

/** The recipes for unattended nights. */
export const nights = join(root, "samples", "nights");

export function readNights(name: string): Promise<string> {
  return readFile(join(nights, name), "utf8");
}

/** A machine as the recipes take it for granted, below a temporary folder. */
export async function machineWithDump(intelUrl: string) {
  const folder = await temporaryFolder();
  for (const path of ["var/lib/prometheus/node-exporter", "var/lib/repute/nights", "etc/repute"]) {
    await mkdir(join(folder, path), { recursive: true });
  }
  await writeFile(join(folder, "etc/repute/api-key"), "sample-key\n", { mode: 0o600 });
  await cp(join(root, "samples/indicators.csv"), join(folder, "var/lib/repute/dump.csv"));
  /** A text of a recipe with the paths of this machine. */
  const placed = (text: string): string =>
    text
      .replaceAll("https://intel.example/beta", intelUrl)
      .replaceAll("${CREDENTIALS_DIRECTORY}", "/etc/repute")
      .replaceAll(/(?<!\S)\/(?=(?:var|etc)\/)/g, `${folder}/`)
      .replaceAll("--deadline 05:30", "--deadline 2h");
  return { folder, placed };
}

/** Runs a recipe's command in the folder of the dump. */
export function runLine(
  line: string,
  { folder }: { readonly folder: string },
  env: Readonly<Record<string, string>>,
): Promise<RunReputeResult> {
  const [, ...args] = line.trim().replaceAll("'", "").split(/\s+/);
  const cwd = join(folder, "var/lib/repute");
  // Partial answers are asked for again after a while, which takes real time.
  return runRepute(args, { cwd, env: { ...env, REPUTE_PARTIAL_RETRIES: "0" } });
}
