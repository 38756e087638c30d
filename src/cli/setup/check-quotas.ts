import { ReputeError } from "../../core/errors.js";
import { counted, formatCount } from "../../core/text/quantity.js";
import { readRedisAddress } from "../../store/redis/redis-address.js";
import { type Check, type DoctorCall, ok, warn } from "./check.js";
import { userStateFolder } from "../../core/files/user-folders.js";

/** How much of the quotas of a service is used; a line for each. @param service its address */
export async function* checkQuotas(
  { settings, context }: DoctorCall,
  service: string | null,
): AsyncGenerator<Check, void, undefined> {
  const { quotaOfAll } = await import("../../session/paces.js");
  const { quotasOf, usedQuotas } = await import("../../session/used-quotas.js");
  const quotas = quotasOf(settings);
  const { pace } = settings;
  const stateFolder = userStateFolder(context.env);
  if (quotas.length === 0) {
    yield ok("quota", "none set (--rate N/h or N/d sets one)");
    return;
  }
  if (service === null || (stateFolder === null && pace === undefined)) {
    yield ok("quota", "not counted for the embedded service, or without a state folder");
    return;
  }
  const notes: string[] = [];
  const onWarning = (message: string): void => void notes.push(message);
  const counter = { pace, service, stateFolder, environment: context.env, onWarning };
  const used = await usedQuotas(counter, quotas, context.clock.now()).catch((error: unknown) => {
    if (!(error instanceof ReputeError)) throw error;
    notes.push(`${error.message}: the use of quotas is unknown`);
    return null;
  });
  for (const note of notes) yield warn("quota", note, "see the message");
  const place = pace === undefined ? "" : `, counted in ${readRedisAddress(pace).shown}`;
  for (const [at, { scope, rate }] of (used === null ? [] : quotas).entries()) {
    const spent = Math.min(rate.count, used?.[at] ?? 0);
    const of = scope === quotaOfAll ? "" : ` of ${scope}`;
    const hours = rate.perMs / 3_600_000;
    const share = `${formatCount(spent)} of ${counted(rate.count, "request")}${of}`;
    yield judge(spent / rate.count, `${share} used in ${hours} h${place}`);
  }
}

function judge(share: number, finding: string): Check {
  if (share < 0.9) return ok("quota", finding);
  return warn(
    "quota",
    finding,
    share < 1
      ? "a run may end early with exit code 75; resume it later"
      : "it is used up: runs end with exit code 75 until requests expire",
  );
}
