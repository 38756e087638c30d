import { apiOptions } from "../../../api/options.js";
import { ReputeError } from "../../../core/errors.js";
import { option } from "../../../core/options.js";
import { redactAddress } from "../../../core/redaction/redact-address.js";
import { lookupOptions } from "../../../lookup/options.js";
import { sinkOptions } from "../../../outputs/options.js";
import { defineCommand } from "../../command.js";
import { exitCodes, interruptedExitCodes } from "../../exit-code.js";
import { cliOptions } from "../../options/option-spec.js";
import { withServices } from "../../services/services.js";
import type { Check, DoctorCall } from "./check-machine.js";
import { labelledText, narrow } from "../../../core/text/wrap.js";
import { writeOut } from "../../terminal/data-output.js";

const { intelUrl, apiKeyFile, timeout } = apiOptions.shape;
const { rate, rateQuery, rateQuickCheck, cache, pace, exclude } = lookupOptions.shape;
const { local } = cliOptions.shape;

const groups = {
  Service: { intelUrl, local, apiKeyFile, timeout },
  Run: {
    rate,
    rateQuery,
    rateQuickCheck,
    pace,
    cache,
    exclude,
    output: option(sinkOptions.shape.output, {
      description: "Output of the run: the disk of its folder is checked",
      value: "OUT",
      alias: "o",
    }),
    json: option(cliOptions.shape.json, { description: "All checks as one JSON object" }),
  },
};

export const doctorCommand = defineCommand({
  name: "doctor",
  usage: "[flags]",
  summary: "check the service, the key, this machine and the settings",
  description: [
    "Checks what a run depends on (address, key, TLS, clock, disk, cache, pace and exclusion lists) and prints a line for each: ok, warn or fail, what was found, and what to do. Give it the flags of the run; the config file and variables count as they do for a run. Optional packages are listed with the folder where they belong.",
    "The service gets one request, a quick check of 192.0.2.1, which counts against its quotas. Secrets are never printed.",
  ],
  operands: [],
  groups,
  examples: {
    "repute doctor": "check the service and this machine",
    "repute doctor --profile nightly -o /data/enriched.csv": "check what a nightly run would use",
    "repute doctor --json | jq '.checks[] | select(.status != \"ok\")'":
      "list what needs attention",
  },
  exitCodes: [
    ["0", "nothing failed; there may be warnings"],
    ["1", "something failed"],
    ["2", "wrong usage or configuration"],
    ...interruptedExitCodes,
  ],
  run: async (call) => ((await runChecks(call)) ? exitCodes.done : exitCodes.stopped),
});

/** Prints every check as soon as it is done. @returns whether none failed */
async function runChecks(call: DoctorCall): Promise<boolean> {
  const [{ checkMachine, failed }, { checkService }] = await Promise.all([
    import("./check-machine.js"),
    import("./check-service.js"),
  ]);
  const { context, settings } = call;
  const checks: Check[] = [];
  const report = async (check: Check): Promise<void> => {
    checks.push(check);
    if (!settings.json) await writeOut(context, `${lineOf(check, context.stdout)}\n`);
  };
  const hasFailed = (name?: string): boolean =>
    checks.some(([check, status]) => status === "fail" && (name ?? check) === check);
  for await (const check of checkMachine(call)) await report(check);
  try {
    await withServices(["intel"], call, async ({ intel }) => {
      const isPaceUp = !hasFailed("pace");
      for await (const check of checkService(call, intel, isPaceUp)) await report(check);
    });
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof ReputeError)) throw error;
    // No address, or no usable key: nothing was started.
    await report(failed(error.code.startsWith("secret_") ? "key" : "address", error));
  }
  const isOk = !hasFailed();
  if (settings.json) {
    const shown = checks.map(([check, status, finding, remedy = null]) => ({
      check,
      status,
      finding,
      remedy,
    }));
    await writeOut(context, `${JSON.stringify({ ok: isOk, checks: shown })}\n`);
  }
  return isOk;
}

/** Width of the longest name of a check, `output folder`. */
const nameWidth = 13;

function lineOf(
  [check, status, finding, remedy = null]: Check,
  { isTTY, columns = 80 }: DoctorCall["context"]["stdout"],
): string {
  const width = isTTY === true ? columns : Number.POSITIVE_INFINITY;
  const head = `${status.padEnd(4)}  ${check.padEnd(nameWidth)}`;
  const text = redactAddress(remedy === null ? finding : `${finding}; ${remedy}`);
  const column = width < narrow ? 6 : head.length + 2;
  return labelledText(head.trimEnd(), text.replaceAll("\n", " "), column, width);
}
