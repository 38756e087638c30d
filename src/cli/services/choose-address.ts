import { UsageError } from "../../core/errors.js";
import { flagName, variableName } from "../options/option-spec.js";
import { secrets } from "../options/secrets.js";
import type { GivenSettings } from "../options/settings.js";
import { settingLevels } from "../options/settings.js";

/** The addresses that the interface has. */
export type ServiceName = "intel" | "ops" | "case";

/** The settings that say which services are asked. */
export interface ServiceChoice {
  readonly local: boolean;
  readonly intelUrl?: string | undefined;
  readonly opsUrl?: string | undefined;
  readonly caseUrl?: string | undefined;
}

const services = {
  intel: { key: "intelUrl", missing: "no service to ask", shape: "https://intel.example/beta" },
  ops: {
    key: "opsUrl",
    missing: "the address of the operations interface is not known",
    shape: "https://ops.example",
  },
  case: {
    key: "caseUrl",
    missing: "the address of the case management instance is not known",
    shape: "https://cases.example",
  },
} as const;

/**
 * Decides between the embedded service and an address. Where both are given the stronger place
 * wins (a flag beats a variable).
 *
 * @returns the address, or null for the embedded service
 * @throws UsageError when neither is given, both in the same place, or an address with a password, a query or a
 * fragment
 */
export function chooseAddress(
  service: ServiceName,
  choice: ServiceChoice,
  given: GivenSettings,
): string | null {
  const { key, missing, shape } = services[service];
  const address = choice[key];
  if (address === undefined) {
    if (choice.local) return null;
    throw new UsageError(`${service}_url_missing`, missing, {
      hint:
        `give its address, such as ${shape}, with --${flagName(key)} URL, in ${variableName(key)}, ` +
        `or as "${flagName(key)}" in the file of --config; or try repute out with --local`,
    });
  }
  const { username, password } = new URL(address);
  if (username !== "" || password !== "") {
    const { name, variable, fileKey } = secrets[service];
    throw new UsageError(
      "credential_in_address",
      `${given.get(key)?.name ?? "the address"} must not hold a user name or password`,
      {
        hint: `it would be seen and kept; the service takes its ${name} from ${variable} or --${flagName(fileKey)}`,
      },
    );
  }
  if (/[?#]/.test(address)) {
    throw new UsageError(
      `${service}_url_query`,
      `${given.get(key)?.name ?? "the address"} must not have a query or fragment`,
      { hint: `end the address before the ? or #, as in ${shape}` },
    );
  }
  if (!choice.local) return address;
  const [localAt, urlAt] = [strength(given, "local"), strength(given, key)];
  if (localAt !== urlAt) return localAt < urlAt ? null : address;
  const names = ["local", key].map((key) => given.get(key)?.name).join(" and ");
  throw new UsageError(`local_and_${service}_url`, `${names} exclude each other`, {
    hint: "keep one: the embedded service, or the service at the address",
  });
}

function strength(given: GivenSettings, key: string): number {
  const level = given.get(key)?.level;
  return level === undefined ? settingLevels.length : settingLevels.indexOf(level);
}
