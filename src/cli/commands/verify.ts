import { sinkOptions } from "../../outputs/options.js";
import type { Audit } from "../../pipeline/finish/output-audit.js";
import { cliOptions } from "../options/option-spec.js";
import { type CommandCall, defineCommand, type SettingsOf } from "../command.js";
import { commonExitCodes } from "../exit-code.js";
import { redactAddress } from "../options/redact.js";

const { json, quiet, config, profile } = cliOptions.shape;

const groups = { Options: { prefix: sinkOptions.shape.prefix, json, quiet, config, profile } };

/** Holds an output against its manifest. */
export const verifyCommand = defineCommand({
  name: "verify",
  usage: "OUT [flags]",
  summary: "check that an output still is what its manifest says",
  description: [
    "Reads an output from its first byte to its last and holds it against OUT.manifest.json: bytes, SHA-256, rows, and rows by status and verdict. Of a STIX bundle the indicators are counted, of a table in a database the rows of the manifest's run. Nothing is asked and nothing is changed.",
  ],
  operands: [["OUT", "output of an earlier run, its manifest beside it"]],
  onlyOperand: { what: "an output" },
  groups,
  examples: {
    "repute verify enriched.csv": "says what the file holds, or how it differs from its manifest",
    "repute verify enriched.ndjson.gz --json": "tells the same as one JSON object",
    "repute verify enriched.csv --quiet && load enriched.csv": "loads a file only when it is whole",
    "repute verify 'duckdb:intel.duckdb?table=enriched'":
      "counts the rows of the last run in a database",
    "repute verify enriched.csv --prefix x_": "checks an output whose added columns begin with x_",
  },
  exitCodes: [...commonExitCodes.filter(([code]) => code !== "1"), ["1", "the output differs"]],
  run: verify,
});

async function verify(call: CommandCall<SettingsOf<typeof groups>>): Promise<number> {
  const { context, settings, operand: path } = call;
  const { verifyOutput } = await import("../../pipeline/finish/verify-output.js");
  const { audit, differences } = await verifyOutput(path, settings.prefix);
  if (settings.json) {
    const { bytes, rows, indicators, sha256, statuses, verdicts } = audit;
    context.stdout.write(
      `${JSON.stringify({ path: redactAddress(path), bytes, rows, indicators, sha256, statuses, verdicts, differences })}\n`,
    );
  } else if (differences.length > 0) {
    context.reporter.print(
      `repute: ${path} is not what its manifest says\n${differences.map((line) => `  ${line}\n`).join("")}`,
    );
  } else if (!settings.quiet) {
    const bytes = audit.bytes === null ? "" : `, ${audit.bytes} bytes`;
    context.stdout.write(
      `${redactAddress(path)}: ${countOf(audit)}${bytes}, as its manifest says${versionNote(audit)}\n`,
    );
  }
  return differences.length === 0 ? 0 : 1;
}

/** Of outputs whose rows have no verdict; a bundle has no rows. */
function versionNote({ verdicts, indicators }: Audit): string {
  return verdicts === null && indicators === undefined ? " (schema version 1, no verdicts)" : "";
}

function countOf({ rows, indicators }: Audit): string {
  return indicators === undefined ? `${rows} rows` : `${indicators} indicators`;
}
