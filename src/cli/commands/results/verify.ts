import { counted } from "../../../core/wording/quantity.js";
import { writeProse } from "../../terminal/data-output.js";
import { readPrefix } from "../../../io/output/options.js";
import type { CountedOutput } from "../../../io/output/verify.js";
import { parseOutput } from "../../../io/output/registry.js";
import { runOptions } from "../../../jobs/enrich/options.js";
import { cliOptions } from "../../options/option-spec.js";
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
    "Reads the whole output and compares it with OUT.manifest.json: bytes, SHA-256, rows, and rows by status and verdict; in a database table, the rows of the manifest's run. Formats that cannot be read back (es-bulk, stix) are known by size and checksum. No request is sent and nothing is changed.",
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
  const { verifyOutput } = await import("../../../io/output/verify.js");
  const { audit, differences } = await verifyOutput(
    parseOutput(path),
    settings.prefix,
    settings.stateDir,
  );
  if (settings.json) {
    const { bytes, rows, indicators, sha256, statuses, verdicts } = audit;
    context.stdout.write(
      `${JSON.stringify({ path: redactAddress(path), bytes, rows, indicators, sha256, statuses, verdicts, differences })}\n`,
    );
  } else if (differences.length > 0) {
    context.reporter.print(
      `repute: ${path} differs from its manifest\n${differences.map((line) => `  ${line}\n`).join("")}`,
    );
  } else if (!settings.quiet) {
    const bytes = audit.bytes === null ? "" : `, ${audit.bytes} bytes`;
    await writeProse(
      context,
      `${redactAddress(path)}: ${countOf(audit)}${bytes}, matches its manifest\n`,
    );
  }
  return differences.length === 0 ? 0 : 1;
}

function countOf({ rows, indicators }: CountedOutput): string {
  return indicators === undefined ? counted(rows ?? 0, "row") : counted(indicators, "indicator");
}
