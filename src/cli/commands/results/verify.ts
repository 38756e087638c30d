import { counted } from "../../../core/wording/quantity.js";
import { writeProse } from "../../terminal/data-output.js";
import { readPrefix } from "../../../io/output/options.js";
import { parseOutput } from "../../../io/output/registry.js";
import { runOptions } from "../../../jobs/enrich/options.js";
import { cliOptions } from "../../options/cli-options.js";
import { type CommandCall, defineCommand, type SettingsOf } from "../../command.js";
import { redactAddress } from "../../../core/redaction.js";

const { json, quiet } = cliOptions.shape;
const { stateDir } = runOptions.shape;

const groups = {
  Options: { prefix: readPrefix, stateDir, json, quiet },
};

export const verifyCommand = defineCommand({
  name: "verify",
  summary: "check an output against its manifest",
  description: [
    "Reads the whole output and compares it with OUT.manifest.json: bytes, SHA-256, rows, and rows by status and verdict; in a database table, only the rows of the manifest's run. For formats that cannot be read back (es-bulk, stix), compares only size and checksum. No request is sent and nothing is changed.",
  ],
  operands: [["OUT", "output of an earlier run, with its manifest beside it"]],
  operandCount: "one",
  groups,
  examples: {
    "repute verify enriched.csv": "print its counts, or how it differs from its manifest",
    "repute verify enriched.csv --quiet && load enriched.csv": "load a file only if it is intact",
  },
  exitCodes: { 1: "the output differs" },
  run: verify,
});

async function verify(call: CommandCall<SettingsOf<typeof groups>>): Promise<number> {
  const { context, settings, operand: path } = call;
  const { prefix, stateDir } = settings;
  const { verifyOutput } = await import("../../../jobs/verify/verify-output.js");
  const { audit, differences } = await verifyOutput(parseOutput(path), prefix, stateDir);
  const { bytes, rows, indicators, sha256, statuses, verdicts } = audit;
  const shown = redactAddress(path);
  if (settings.json) {
    const counts = { bytes, rows, indicators, sha256, statuses, verdicts };
    context.stdout.write(`${JSON.stringify({ path: shown, ...counts, differences })}\n`);
  } else if (differences.length > 0) {
    const lines = differences.map((line) => `  ${line}\n`).join("");
    context.reporter.print(`repute: ${path} differs from its manifest\n${lines}`);
  } else if (!settings.quiet) {
    const count =
      indicators === undefined ? counted(rows ?? 0, "row") : counted(indicators, "indicator");
    const size = bytes === null ? "" : `, ${bytes} bytes`;
    await writeProse(context, `${shown}: ${count}${size}, matches its manifest\n`);
  }
  return differences.length === 0 ? 0 : 1;
}
