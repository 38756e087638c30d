import { UsageError } from "../core/errors.js";
import type { GivenSettings } from "./settings.js";
import { settingLevels } from "./settings.js";

/** The settings that say which service is asked. */
export interface ServiceChoice {
  readonly local: boolean;
  readonly intelUrl?: string | undefined;
}

/**
 * Decides between the embedded service and an address. Where both are given the stronger place
 * wins (a flag beats a variable).
 *
 * @returns the address, or null for the embedded service
 * @throws UsageError when neither is given, both in the same place, or an address with a password
 */
export function chooseService(choice: ServiceChoice, given: GivenSettings): string | null {
  const { local, intelUrl } = choice;
  if (intelUrl === undefined) {
    if (local) return null;
    throw new UsageError("intel_url_missing", "no service to ask", {
      hint:
        'give its address with --intel-url URL, in REPUTE_INTEL_URL, or as "intel-url" in the file of --config; ' +
        "or try repute out with --local",
    });
  }
  const { username, password } = new URL(intelUrl);
  if (username !== "" || password !== "") {
    throw new UsageError(
      "credential_in_address",
      `${given.get("intelUrl")?.name ?? "the address"} must not hold a user name or password`,
      {
        hint: "it would be seen and kept; the service takes its key from REPUTE_API_KEY or --api-key-file",
      },
    );
  }
  if (!local) return intelUrl;
  const [localAt, urlAt] = [strength(given, "local"), strength(given, "intelUrl")];
  if (localAt !== urlAt) return localAt < urlAt ? null : intelUrl;
  const names = ["local", "intelUrl"].map((key) => given.get(key)?.name).join(" and ");
  throw new UsageError("local_and_intel_url", `${names} exclude each other`, {
    hint: "keep one: the embedded service, or the service at the address",
  });
}

/**
 * Gives `use` the address of the service to ask. The embedded service is started for that long on
 * a free port of the loopback interface.
 */
export async function withService<T>(
  intelUrl: string | null,
  use: (intelUrl: string) => Promise<T>,
): Promise<T> {
  if (intelUrl !== null) return use(intelUrl);
  const { startService } = await import("../service/service.js");
  const service = await startService();
  try {
    return await use(service.intelUrl);
  } finally {
    await service.close();
  }
}

function strength(given: GivenSettings, key: string): number {
  const level = given.get(key)?.level;
  return level === undefined ? settingLevels.length : settingLevels.indexOf(level);
}
