import { constants, existsSync } from "node:fs";
import { access, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ReputeError } from "../../../core/errors.js";
import { readExclusions } from "../../../core/exclusions/read-exclusions.js";
import { realPath, userStateFolder } from "../../../core/files/folders.js";
import { faultReason } from "../../../core/files/system-fault.js";
import { installCommand, optionalPackages } from "../../../core/load-driver.js";
import { formatBytes, formatCount } from "../../../core/wording/quantity.js";
import { checkFolder } from "../../../io/output/check-paths.js";
import type { SessionSettings } from "../../../client/session/types.js";
import type { CommandCall } from "../../command.js";
import type { ServiceChoice } from "../../services/services.js";

export type DoctorCall = CommandCall<
  ServiceChoice &
    Omit<SessionSettings, "retries"> & {
      readonly output: string;
      readonly json: boolean;
    }
>;

export type Found = readonly [
  status: "ok" | "warn" | "fail",
  finding: string,
  remedy?: string | null,
];

export type Check = readonly [check: string, ...Found];

export type Checks = AsyncGenerator<Check, void, undefined>;

/** What a run would print about an error. */
export function failed(check: string, { message, hint }: ReputeError): Check {
  return [check, "fail", message, hint];
}

/** Checks that need no service. */
export async function* checkMachine(call: DoctorCall): Checks {
  const { settings, configFile, profile, context } = call;
  const { output, cache, exclude = [] } = settings;
  const config = configFile ?? "no config file";
  const stateFolder = userStateFolder(context.env);
  const isFile = output !== "-" && !/^[\w+.-]+:/.test(output);
  const checks: (readonly [check: string, find: () => Found | Promise<Found>])[] = [
    ["node", () => ["ok", `Node.js ${process.versions.node}`]],
    ["packages", packages],
    ["config", () => ["ok", profile === null ? config : `${config}, profile ${profile}`]],
    ["state folder", () => (stateFolder === null ? homeless : disk(stateFolder))],
  ];
  if (cache !== undefined) checks.push(["cache folder", () => disk(resolve(cache))]);
  if (isFile) checks.push(["output folder", () => outputFolder(realPath(output))]);
  if (cache === undefined) checks.push(["cache", () => ["ok", "none in use"]]);
  else checks.push(["cache", () => cacheFile(cache)]);
  for (const path of exclude) checks.push(["exclusions", () => exclusions(path)]);
  for (const [check, find] of checks) {
    try {
      yield [check, ...(await find())];
    } catch (error) {
      if (!(error instanceof ReputeError)) throw error;
      yield failed(check, error);
    }
  }
}

const homeless: Found = [
  "warn",
  "neither XDG_STATE_HOME nor HOME is set",
  "set HOME, so that quotas are counted across runs",
];

/** Which optional packages there are. None is needed until an input, output or address asks for it. */
function packages(): Found {
  const { folder, found, missing } = optionalPackages();
  if (missing.length === 0) return ["ok", `all ${found.length} optional ones in ${folder}`];
  const listed = found.length === 0 ? "no optional ones" : found.join(", ");
  const remedy = `to add those: ${installCommand(missing.join(" "))}`;
  return ["ok", `${listed} in ${folder}; without ${missing.join(", ")}`, remedy];
}

/** Whether a folder, or the one that it would be made in, is writable and has space. */
async function disk(folder: string): Promise<Found> {
  let existing = folder;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  try {
    // With the slash, a file of that name is an error.
    await access(`${existing}/`, constants.W_OK);
    const { bavail, bsize } = await statfs(existing);
    return space(folder, bavail * bsize);
  } catch (error) {
    const finding = `cannot write to ${folder}: ${faultReason(error)}`;
    return ["fail", finding, "name another folder, or correct the permissions of this one"];
  }
}

/** @param free bytes */
export function space(folder: string, free: number): Found {
  const finding = `${folder}, ${formatBytes(free)} free`;
  if (free >= 1e9) return ["ok", finding];
  return [free < 50e6 ? "fail" : "warn", finding, "free space on that disk"];
}

/** The folder of an output, which a run does not create. */
async function outputFolder(file: string): Promise<Found> {
  await checkFolder(file);
  return disk(dirname(file));
}

/** Opens a cache as a run does, but creates none. */
async function cacheFile(cache: string): Promise<Found> {
  const { cacheBytes, cacheFault, openCacheFile } =
    await import("../../../client/store/cache/cache-file.js");
  const database = await openCacheFile(cache, { readOnly: true }).catch((error: unknown) => {
    throw cacheFault(cache, "open", error);
  });
  database?.close();
  return [
    "ok",
    `${cache}, ${database === null ? "no answers yet" : formatBytes(cacheBytes(cache))}`,
  ];
}

/** Reads an exclusion list as a run does. */
async function exclusions(path: string): Promise<Found> {
  const [list] = await readExclusions([path]);
  const { entries, sample } = list!;
  if (sample === null) return ["warn", `${path} has no entries`, "add some, or leave the list out"];
  const size = entries === 1 ? "1 entry" : `${formatCount(entries)} entries`;
  return ["ok", `${path}, ${size}, such as ${sample}`];
}
