import { caseOptions, opsOptions } from "../../../client/api/options.js";
import { ReputeError } from "../../../core/errors.js";
import { option } from "../../../core/options.js";
import { redactAddress } from "../../../core/redaction/redact-address.js";
import { sourceOptions } from "../../../io/input/source-options.js";
import { defineCommand } from "../../command.js";
import { exitCodes, interruptedExitCodes } from "../../exit-code.js";
import { cliOptions } from "../../options/option-spec.js";
import { withServices } from "../../services/services.js";
import { runGroups } from "../enrich/job-options.js";
import type { Check, DoctorCall } from "./check-machine.js";
import { printSettings, settingsInForce } from "./settings-in-force.js";
import { labelledText, narrow } from "../../../core/text/wrap.js";
import { writeOut } from "../../terminal/data-output.js";

const { opsUrl, accessTokenFile } = opsOptions.shape;
const { caseUrl, caseApiKeyFile } = caseOptions.shape;

const groups = {
  Input: sourceOptions.shape,
  ...runGroups,
  Service: { ...runGroups.Service, opsUrl, accessTokenFile, caseUrl, caseApiKeyFile },
  "Reports and monitoring": {
    ...runGroups["Reports and monitoring"],
    json: option(cliOptions.shape.json, {
      description: "All checks and settings, unset ones too, as one JSON object",
    }),
  },
};

export const doctorCommand = defineCommand({
  name: "doctor",
  usage: "[flags]",
  summary: "check service, key and machine; list the settings in force",
  description: [
    "Checks what a run depends on (address, key, TLS, clock, disk, cache, queue and exclusion lists) and prints a line for each: ok, warn or fail, what was found, and what to do. Optional packages are listed with the folder where they belong.",
    "Then it lists the settings that the run would have and where each comes from: a flag, a variable, a line of the config file, a profile, or the default. Settings that only other commands use follow if they are given. Give it the flags of the run. Secrets are shown as set or not set.",
    "Settings come from flags, REPUTE_ variables and a config file: --config FILE, else config.yaml in $XDG_CONFIG_HOME/repute (~/.config/repute). Keys are flags without the dashes. `profiles` holds named sections; --profile NAME selects one. Flags override variables, variables override the profile, and the profile overrides the rest of the file.",
    "The service gets one request, a quick check of 192.0.2.1, which counts against its quotas. Piped settings are one a line: name, value and origin, separated by tabs.",
  ],
  operands: [],
  groups,
  examples: {
    "repute doctor": "check the service and this machine",
    "repute doctor --profile nightly -o /data/enriched.csv": "check what a nightly run would use",
    "repute doctor --json | jq '.checks[] | select(.status != \"ok\")'":
      "list what needs attention",
    "repute doctor --json | jq -r .config_file": "print the path of the config file",
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
      if (settings.workers !== undefined) {
        const { checkQueue } = await import("./check-queue.js");
        const where = { address: settings.workers, baseUrl: intel.url, environment: context.env };
        const checks = checkQueue(where);
        for await (const check of checks) await report(check);
      }
      const isAnswered = !hasFailed("queue") && !hasFailed("workers");
      for await (const check of checkService(call, intel, isAnswered)) await report(check);
    });
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof ReputeError)) throw error;
    // No address, or no usable key: nothing was started.
    await report(failed(error.code.startsWith("secret_") ? "key" : "address", error));
  }
  const isOk = !hasFailed();
  const inForce = await settingsInForce(call, doctorCommand);
  if (!settings.json) {
    await writeOut(context, "\n");
    await printSettings(call, inForce);
  } else {
    const shown = checks.map(([check, status, finding, remedy = null]) => ({
      check,
      status,
      finding,
      remedy,
    }));
    const { configFile: config_file, profile } = call;
    const all = { ok: isOk, checks: shown, config_file, profile, ...inForce };
    await writeOut(context, `${JSON.stringify(all)}\n`);
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
