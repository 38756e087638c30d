import { z } from "zod";
import { sinkOptions } from "../../outputs/options.js";
import { cliOptions } from "../options/cli-options.js";
import { defineCommand } from "../command.js";
import type { CommandCall } from "../command.js";
import { commonExitCodes } from "../exit-code.js";
import { oneOperand } from "../options/operands.js";
import { redactAddress } from "../options/redact.js";
import type { Audit } from "../../pipeline/finish/output-audit.js";

const options = z.strictObject({
  prefix: sinkOptions.shape.prefix,
  json: cliOptions.shape.json,
  quiet: cliOptions.shape.quiet,
  config: cliOptions.shape.config,
});

/** Holds an output against its manifest. */
export const verifyCommand = defineCommand({
  name: "verify",
  usage: "OUT [flags]",
  summary: "check that an output still is what its manifest says",
  description: [
    "Reads an output from its first byte to its last and holds it against OUT.manifest.json: bytes, SHA-256, rows, and rows by status and verdict. Of a STIX bundle the indicators are counted, of a table in a database the rows of the manifest's run. Nothing is asked and nothing is changed.",
  ],
  operands: [["OUT", "output of an earlier run, its manifest beside it"]],
  options,
  groups: [{ title: "Options", keys: ["prefix", "json", "quiet", "config"] }],
  examples: [
    {
      command: "repute verify enriched.csv",
      what: "says what the file holds, or how it differs from its manifest",
    },
    {
      command: "repute verify enriched.ndjson.gz --json",
      what: "tells the same as one JSON object",
    },
    {
      command: "repute verify enriched.csv --quiet && load enriched.csv",
      what: "loads a file only when it is whole",
    },
    {
      command: "repute verify 'duckdb:intel.duckdb?table=enriched'",
      what: "counts the rows of the last run in a database",
    },
    {
      command: "repute verify enriched.csv --prefix x_",
      what: "checks an output whose added columns begin with x_",
    },
  ],
  exitCodes: [...commonExitCodes.filter(([code]) => code !== "1"), ["1", "the output differs"]],
  run: verify,
});

async function verify(call: CommandCall<z.output<typeof options>>): Promise<number> {
  const { context, settings } = call;
  const path = oneOperand("verify", "an output", call.operands);
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
