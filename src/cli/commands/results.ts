import { z } from "zod";
import { UsageError } from "../../core/errors.js";
import { option } from "../../core/options.js";
import { redactAddress } from "../../core/redaction.js";
import { accusationIn } from "../../core/verdict.js";
import { printableData } from "../../core/wording/printable.js";
import { counted } from "../../core/wording/quantity.js";
import { readPrefix } from "../../io/output/options.js";
import { parseOutput } from "../../io/output/registry.js";
import { writeLines } from "../../io/output/text/write-lines.js";
import type { OutputDiff } from "../../jobs/diff/diff-outputs.js";
import { checkOutput } from "../../jobs/enrich/destination/choose-output.js";
import { exitCodes } from "../../jobs/enrich/ending.js";
import { runOptions } from "../../jobs/enrich/options.js";
import { changeCounts, changePhrase, changeTotal, defang } from "../../jobs/report/phrases.js";
import { defineCommand } from "../command.js";
import { cliOptions } from "../options/cli-options.js";
import type { CliContext } from "../terminal/cli-context.js";
import { printTable, writeOut, writeProse } from "../terminal/data-output.js";

// The commands that read the output of a run.

const { against, json, quiet } = cliOptions.shape;

/** Where an output has its columns and its manifest. */
const place = { prefix: readPrefix, stateDir: runOptions.shape.stateDir };

export const verifyCommand = defineCommand({
  name: "verify",
  summary: "check an output against its manifest",
  description: [
    "Reads the whole output and compares it with OUT.manifest.json: bytes, SHA-256, rows, and rows by status and verdict; in a database table, only the rows of the manifest's run. For formats that cannot be read back (es-bulk, stix), compares only size and checksum. No request is sent and nothing is changed.",
  ],
  operand: ["OUT", "output of an earlier run, with its manifest beside it"],
  groups: { Options: { ...place, json, quiet } },
  examples: {
    "repute verify enriched.csv": "print its counts, or how it differs from its manifest",
    "repute verify enriched.csv --quiet && load enriched.csv": "load a file only if it is intact",
  },
  exitCodes: { 1: "the output differs" },
  run: async ({ context, settings, operand: path }) => {
    const { prefix, stateDir } = settings;
    const { verifyOutput } = await import("../../jobs/verify/verify-output.js");
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
  },
});

export const reportCommand = defineCommand({
  name: "report",
  usage: "OUT [-o REPORT.html] [flags]",
  summary: "summarise an output: verdicts, tags, networks, worst items",
  description: [
    "Reads an output and writes one HTML file that needs no network and no script: the result in a sentence, verdicts by kind, tags, networks, first and last seen, the worst items with their abuse contacts, why rows were not checked, and the run's requests and duration. Items are defanged. Without -o the same is printed as text.",
    "The output is read once; memory use does not grow with its size. Details of the run come from OUT.manifest.json.",
  ],
  operand: [
    "OUT",
    "output of an earlier run: CSV, TSV, NDJSON, Parquet or a table; gzip is detected",
  ],
  groups: {
    Options: {
      output: option(z.string().min(1).optional(), {
        description: "Page to write, an HTML file; without it the report is printed as text",
        value: "REPORT.html",
        alias: "o",
      }),
      against,
      ...place,
      quiet,
    },
  },
  examples: {
    "repute report enriched.csv -o report.html": "write a page to open in a browser or to mail",
    "repute report enriched.csv --against monday.csv -o report.html":
      "add what changed since Monday",
  },
  run: async ({ context, settings, operand }) => {
    const { signal, reporter } = context;
    const { parsePage, reportOf, writeReportPage } =
      await import("../../jobs/report/make-report.js");
    const page = settings.output === undefined ? null : parsePage(settings.output);
    const { onNotice } = reporter.listener;
    const made = await reportOf(parseOutput(operand, "read"), { ...settings, signal, onNotice });
    if (page === null) {
      const { reportText } = await import("../../jobs/report/text.js");
      return writeOut(context, printableData(reportText(made, context.stdout.columns || 80)));
    }
    await writeReportPage(page, made);
    const { headline } = await import("../../jobs/report/contents.js");
    reporter.notice(`${headline(made)} ${page.given}`);
  },
});

/** Maximum number of changes printed as text; `-o` and `--json` write all. */
const maxShown = 40;

export const diffCommand = defineCommand({
  name: "diff",
  usage: "EARLIER LATER [-o OUT] [flags]",
  summary: "show what changed between two outputs",
  description: [
    "Compares two outputs by kind and item: new, gone, worse, better, and changed (tags, network or abuse contact). If several rows have the same item, the newest answer counts. Items that are unknown on one side are counted, not compared; tags, network and contact are compared where both sides have an answer.",
    "Either side can be CSV, NDJSON, Parquet or a database table. Tables default to the newest run; select another one with run=ID.",
  ],
  operands: [
    ["EARLIER", "output to compare with"],
    ["LATER", "newer output"],
  ],
  groups: {
    Output: {
      output: option(z.string().min(1).optional(), {
        description: "Write every change to this file or s3:// object: .csv, .ndjson or .html",
        value: "OUT",
        alias: "o",
      }),
      json,
      exitCode: option(z.boolean().default(false), {
        description:
          "Exit with 3 if an item got worse, or a new one is malicious, suspicious or listed",
      }),
      ...place,
      quiet,
    },
  },
  examples: {
    "repute diff monday.csv tuesday.csv": "print a summary and the worst changes",
    "repute diff monday.csv tuesday.csv -o changes.csv": "write every change to a file",
  },
  exitCodes: {
    3: "with --exit-code: an item got worse, or a new one is malicious, suspicious or listed",
  },
  run: async ({ settings, operands, context }) => {
    const [earlier, later, ...others] = operands;
    if (earlier === undefined || later === undefined || others.length > 0) {
      throw new UsageError("argument_missing", "diff needs two outputs: EARLIER and LATER", {
        hint: "repute diff monday.csv tuesday.csv",
      });
    }
    const output = settings.output === undefined ? null : parseOutput(settings.output);
    const { diffFormatOf, diffLines } = await import("../../jobs/report/page/page.js");
    const format = output === null ? null : diffFormatOf(output.given);
    if (output !== null) await checkOutput(output, [earlier, later]);
    const { compareOutputs } = await import("../../jobs/diff/diff-outputs.js");
    await using found = await compareOutputs(
      parseOutput(earlier, "read"),
      parseOutput(later, "read"),
      { ...settings, signal: context.signal },
    );
    const { signal } = context;
    const print = (text: string) => writeOut(context, text);
    const names = { earlier: redactAddress(earlier), later: redactAddress(later) };
    if (output !== null && format !== null) {
      await writeLines(output, diffLines(format, found, names), { signal, print });
    }
    if (settings.json) {
      await writeLines(parseOutput("-"), diffLines("ndjson", found, names), { print });
    } else if (!settings.quiet) await show(found, output === null, context);
    return settings.exitCode && isAlarming(found) ? exitCodes.rowsFailed : exitCodes.done;
  },
});

function isAlarming({ changes }: OutputDiff): boolean {
  // Changes come worst first, so the first one decides.
  const [first] = changes();
  return (
    first?.change === "worse" ||
    (first?.change === "new" && accusationIn(first.later!.verdict) !== null)
  );
}

const titles = ["change", "kind", "item", "difference"];

/** Prints a summary and, unless they go to a file, the worst changes. Items are defanged. */
async function show(
  { counts, worst }: OutputDiff,
  withChanges: boolean,
  context: CliContext,
): Promise<void> {
  const total = changeTotal(counts);
  await writeProse(context, `${changeCounts(counts)}\n`);
  if (!withChanges || total === 0) return;
  await writeOut(context, "\n");
  const rows = worst(maxShown).map((change) => {
    const item = defang(change.item, change.kind);
    return [change.change, change.kind, item, changePhrase(change)];
  });
  printTable(context, titles, rows);
  if (total > maxShown) {
    const more = counted(total - maxShown, "more change");
    await writeProse(context, `\n${more}; write them all with -o changes.csv\n`);
  }
}
