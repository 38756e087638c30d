import { ReputeError } from "../../core/errors.js";
import { redactAddress } from "../../core/redaction/redact-address.js";
import { withServices } from "../services/services.js";
import { writeOut, writeProse } from "../terminal/data-output.js";
import { type Check, type DoctorCall, failWith } from "./check.js";
import { checkMachine } from "./check-machine.js";
import { checkService } from "./check-service.js";

/** Prints every check as soon as it is done. @returns whether none failed */
export async function runChecks(call: DoctorCall): Promise<boolean> {
  const { context, settings } = call;
  const checks: Check[] = [];
  const report = async (check: Check): Promise<void> => {
    checks.push(check);
    if (!settings.json) await writeProse(context, lineOf(check), hanging(context));
  };
  for await (const check of checkMachine(call)) await report(check);
  try {
    await withServices(["intel"], call, async ({ intel }) => {
      const isPaceUp = !checks.some(({ check, status }) => check === "pace" && status === "fail");
      for await (const check of checkService(call, intel, isPaceUp)) await report(check);
    });
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof ReputeError)) throw error;
    // No address, or no usable key: nothing was started.
    await report(failWith(error.code.startsWith("secret_") ? "key" : "address", error));
  }
  const failed = checks.some(({ status }) => status === "fail");
  if (settings.json) await writeOut(context, `${JSON.stringify({ ok: !failed, checks })}\n`);
  return !failed;
}

/** Width of the longest name of a check, `output folder`. */
const nameWidth = 13;

/** Continued lines stand below the findings where there is room for them. */
function hanging({ stdout }: DoctorCall["context"]): number {
  return (stdout.columns || 80) < 60 ? 6 : nameWidth + 8;
}

function lineOf({ check, status, finding, remedy }: Check): string {
  const text = remedy === null ? finding : `${finding}; ${remedy}`;
  return `${status.padEnd(4)}  ${check.padEnd(nameWidth)}  ${redactAddress(text).replaceAll("\n", " ")}\n`;
}
