import { constants, existsSync } from "node:fs";
import { access, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ReputeError } from "../../core/errors.js";
import { faultReason } from "../../core/files/system-fault.js";
import { realPath } from "../../core/files/real-path.js";
import { userStateFolder } from "../../core/files/user-folders.js";
import { readExclusions } from "../../core/exclusions/read-exclusions.js";
import { installCommand, optionalPackages } from "../../core/load-driver.js";
import { formatBytes, formatCount } from "../../core/text/quantity.js";
import { checkFolder } from "../../run/destination/check-paths.js";
import { isRedisAddress } from "../../store/redis/redis-address.js";
import { type Check, type DoctorCall, fail, failWith, ok, warn } from "./check.js";

/** Checks that need no service. */
export async function* checkMachine(call: DoctorCall): AsyncGenerator<Check, void, undefined> {
  const { settings, configFile, context } = call;
  const { profile, output, cache, pace } = settings;
  yield ok("node", `Node.js ${process.versions.node}`);
  yield packagesCheck();
  const inProfile = profile === undefined ? "" : `, profile ${profile}`;
  yield ok("config", configFile === null ? "no config file" : configFile + inProfile);
  const stateFolder = userStateFolder(context.env);
  yield stateFolder === null
    ? warn(
        "state folder",
        "neither XDG_STATE_HOME nor HOME is set",
        "set HOME, so that quotas are counted across runs",
      )
    : await diskCheck("state folder", stateFolder);
  const isFolder = cache !== undefined && !isRedisAddress(cache);
  if (isFolder) yield await diskCheck("cache folder", resolve(cache));
  if (output !== "-" && !/^[\w+.-]+:/.test(output)) yield await outputCheck(realPath(output));
  if (cache === undefined) yield ok("cache", "none in use");
  else yield isFolder ? await cacheCheck(cache) : await redisCheck("cache", cache);
  if (pace !== undefined) yield await redisCheck("pace", pace);
  for (const path of settings.exclude ?? []) yield await exclusionCheck(path);
}

/** Which optional packages there are. None is needed until an input, output or address asks for it. */
function packagesCheck(): Check {
  const { folder, found, missing } = optionalPackages();
  if (missing.length === 0) return ok("packages", `all ${found.length} optional ones in ${folder}`);
  const listed = found.length === 0 ? "no optional ones" : found.join(", ");
  return {
    ...ok("packages", `${listed} in ${folder}; without ${missing.join(", ")}`),
    remedy: `to add those: ${installCommand(missing.join(" "))}`,
  };
}

/** Reads an exclusion list as a run does. */
async function exclusionCheck(path: string): Promise<Check> {
  try {
    const [list] = await readExclusions([path]);
    const { entries, sample } = list!;
    if (sample === null) {
      return warn("exclusions", `${path} has no entries`, "add some, or leave the list out");
    }
    const size = entries === 1 ? "1 entry" : `${formatCount(entries)} entries`;
    return ok("exclusions", `${path}, ${size}, such as ${sample}`);
  } catch (error) {
    if (error instanceof ReputeError) return failWith("exclusions", error);
    throw error;
  }
}

/** Free space, in bytes, below which a folder is warned about, and below which it fails. */
const space = { warn: 1e9, fail: 50e6 };

/** Whether a folder, or the one that it would be made in, is writable and has space. */
export async function diskCheck(
  name: string,
  folder: string,
  freeOf: (path: string) => Promise<number> = freeBytes,
): Promise<Check> {
  let existing = folder;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  try {
    // With the slash, a file of that name is an error.
    await access(`${existing}/`, constants.W_OK);
    const free = await freeOf(existing);
    const finding = `${folder}, ${formatBytes(free)} free`;
    if (free >= space.warn) return ok(name, finding);
    return (free < space.fail ? fail : warn)(name, finding, "free space on that disk");
  } catch (error) {
    const finding = `cannot write to ${folder}: ${faultReason(error)}`;
    return fail(name, finding, "name another folder, or correct the permissions of this one");
  }
}

async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

/** The folder of an output, which a run does not create. */
async function outputCheck(file: string): Promise<Check> {
  try {
    await checkFolder(file);
  } catch (error) {
    return failWith("output folder", error as ReputeError);
  }
  return diskCheck("output folder", dirname(file));
}

/** Opens a cache as a run does, but creates none. */
async function cacheCheck(cache: string): Promise<Check> {
  const { cacheBytes, cacheFault, openCacheFile } = await import("../../store/cache/cache-file.js");
  try {
    const database = await openCacheFile(cache, { readOnly: true });
    database?.close();
    const content = database === null ? "no answers yet" : formatBytes(cacheBytes(cache));
    return ok("cache", `${cache}, ${content}`);
  } catch (error) {
    return failWith("cache", cacheFault(cache, "open", error));
  }
}

/** Connects to a Redis as a run does, and looks whether it may lose the counts of a pace. */
async function redisCheck(name: "cache" | "pace", address: string): Promise<Check> {
  const { RedisLink } = await import("../../store/redis/redis-link.js");
  let away = "no answer";
  const onAway = (reason: string, shown: string): void =>
    void (away = `${shown} is away (${reason})`);
  let close = (): void => undefined;
  try {
    const link = await RedisLink.open(address, { environment: process.env, onAway });
    close = () => link.close();
    const finding = `${link.address.shown}, answers`;
    const info = await link.ask((redis) => redis.info());
    const has = (line: string): boolean => info.includes(`\n${line}\r`);
    if (has("role:slave")) return fail(name, `${finding}, but is a replica`, "name the primary");
    const isKept = has("maxmemory_policy:noeviction") || has("maxmemory:0");
    if (name === "cache" || (isKept && has("aof_enabled:1"))) return ok(name, finding);
    const remedy = "set maxmemory-policy noeviction and appendonly yes";
    return warn(name, `${finding}, but may lose rates and quotas`, remedy);
  } catch (error) {
    if (error instanceof ReputeError) return failWith(name, error);
    const effect = name === "pace" ? "runs wait for it" : "runs continue without it";
    return fail(name, `${away}; ${effect}`, "start it, or check the address");
  } finally {
    close();
  }
}
