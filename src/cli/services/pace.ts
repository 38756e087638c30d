import type { EarlyEndError } from "../../core/errors.js";
import type { Rate } from "../../core/options.js";
import { userStateFolder } from "../../core/files/user-state-folder.js";
import type { Pace } from "../../lookup/pace/pace.js";
import type { CommandCall } from "../command.js";
import type { ServiceAccess } from "./services.js";

/** Requests a second that no service minds, where nothing else is said. */
const customary: Rate = { count: 100, perMs: 1000 };

/** The rates to keep: those given, else 100 a second, and none for the embedded service. */
export function paceOf(rates: readonly Rate[] | undefined, local: boolean): readonly Rate[] {
  return rates ?? (local ? [] : [customary]);
}

/**
 * The pace of a command that asks a service anything but the main job's rows. Quotas are counted as
 * those of the main job are; `giveBack` returns what was reserved and not used.
 *
 * @param onUsedUp told when a quota is used up for longer than a minute
 */
export async function openPace(
  { url, embedded }: ServiceAccess,
  {
    settings,
    context: { clock, env, reporter },
  }: Pick<CommandCall<{ readonly rate?: readonly Rate[] | undefined }>, "settings" | "context">,
  onUsedUp: (error: EarlyEndError) => void,
): Promise<Pace> {
  const [{ Pace }, { quotaOfAll, quotaStoreFor, quotaUsedUp }] = await Promise.all([
    import("../../lookup/pace/pace.js"),
    import("../../pipeline/lookup/open-paces.js"),
  ]);
  const rates = paceOf(settings.rate, embedded);
  const places = {
    service: url,
    stateFolder: userStateFolder(env),
    onWarning: (message: string) => reporter.warning(message),
  };
  const store = await quotaStoreFor(rates, embedded ? null : places);
  return new Pace({
    rates,
    clock,
    quotas: { store, name: quotaOfAll },
    onUsedUp: (rate, goesOnAtMs) => onUsedUp(quotaUsedUp(rate, goesOnAtMs)),
  });
}
