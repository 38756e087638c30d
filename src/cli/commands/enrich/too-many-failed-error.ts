import { FatalError } from "../../../core/errors.js";
import type { FlatSettings } from "../../../run/options.js";
import { lookedUp } from "../../../run/failure-limits.js";
import { findWarehouse } from "../../../outputs/registry.js";
import type { Manifest } from "../../../core/manifest.js";
import { formatCount } from "../../../core/text/quantity.js";
import { retryAdvice } from "./retry-advice.js";

type Settings = Pick<FlatSettings, "output" | "prefix" | "maxFailed" | "tagIps">;

/** Explains a run that ended with more failed rows than `--max-failed` allows. */
export function tooManyFailedError(manifest: Manifest, settings: Settings): FatalError {
  const [commonest] = Object.keys(manifest.errors);
  const reason = commonest === undefined ? "" : `, most often ${commonest}`;
  const skipped = settings.tagIps === undefined ? "" : "; no tag lists were exported";
  const message = `too many rows failed: ${counted(manifest, settings)}${reason}${kept(manifest, settings)}${skipped}`;
  return new FatalError("too_many_failed", message, { hint: hintFor(manifest, settings) });
}

function counted(manifest: Manifest, { maxFailed }: Settings): string {
  if ("rows" in maxFailed) {
    return `${formatCount(manifest.statuses.failed)} (--max-failed allows ${formatCount(maxFailed.rows)})`;
  }
  const { rows, failed } = lookedUp(manifest);
  return `${formatCount(failed)} of the ${formatCount(rows)} that were looked up (--max-failed allows ${maxFailed.percent}%)`;
}

/** Where the rows were kept. */
function kept({ output }: Manifest, settings: Settings): string {
  if (output.path === null) return "";
  return `; the rows are in ${output.path}, and ${findWarehouse(settings.output)?.target.display ?? settings.output} is unchanged`;
}

function hintFor({ output }: Manifest, { output: target, prefix }: Settings): string {
  const again = "run it again once the service works, or raise --max-failed";
  if (output.path === null) return again;
  return retryAdvice(output, target, prefix) ?? again;
}
