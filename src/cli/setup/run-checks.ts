import { ReputeError } from "../../core/errors.js";
import { redactAddress } from "../../core/redaction/redact-address.js";
import { withServices } from "../services/services.js";
import { writeProse, writeOut } from "../terminal/data-output.js";
import { type Check, type DoctorCall, failWith } from "./check.js";
import { checkMachine } from "./check-machine.js";
import { checkQuotas } from "./check-quotas.js";
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
  let service: string | null = null;
  try {
    await withServices(["intel"], call, async ({ intel }) => {
      service = intel.embedded ? null : intel.url;
      const isPaceUp = !checks.some(({ check, status }) => check === "pace" && status === "fail");
      for await (const check of checkService(call, intel, isPaceUp)) await report(check);
    });
  } catch (error) {
    context.signal.throwIfAborted();
    // No address, or no usable key: nothing was started.
    const isKey = error instanceof ReputeError && error.code.startsWith("secret_");
    await report(failWith(isKey ? "key" : "address", error));
  }
  for await (const check of checkQuotas(call, service)) await report(check);
  const failed = checks.some(({ status }) => status === "fail");
  if (settings.json) await writeOut(context, `${JSON.stringify({ ok: !failed, checks })}\n`);
  return !failed;
}

/** A sentence as the rest of another one. */
function asClause(text: string): string {
  return text.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase()).replace(/\.$/, "");
}

/** Width of the longest name of a check, `output folder`. */
const nameWidth = 13;

/** Continued lines stand below the findings where there is room for them. */
function hanging({ stdout }: DoctorCall["context"]): number {
  return (stdout.columns || 80) < 60 ? 6 : nameWidth + 8;
}

function lineOf({ check, status, finding, remedy }: Check): string {
  const text = remedy === null ? finding : `${finding}; ${asClause(remedy)}`;
  return `${status.padEnd(4)}  ${check.padEnd(nameWidth)}  ${redactAddress(text).replaceAll("\n", " ")}\n`;
}
