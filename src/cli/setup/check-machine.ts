import { constants, existsSync } from "node:fs";
import { access, readFile, stat, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { faultReason } from "../../core/files/system-fault.js";
import { isRedisAddress } from "../../store/redis/redis-address.js";
import { packagePath } from "../../core/program.js";
import { formatBytes } from "../../core/text/quantity.js";
import { type Check, type DoctorCall, fail, ok, warn } from "./check.js";
import { userStateFolder } from "../../core/files/user-folders.js";

/** Checks that need no service. */
export async function* checkMachine(call: DoctorCall): AsyncGenerator<Check, void, undefined> {
  const { settings, configFile } = call;
  yield nodeCheck(process.versions.node, await neededNode());
  const profile = settings.profile === undefined ? "" : `, profile ${settings.profile}`;
  yield ok("config", configFile === null ? "no config file" : configFile + profile);
  for (const [name, folder] of foldersOf(call)) yield await diskCheck(name, folder);
  yield* outputCheck(call.settings.output);
  yield await cacheCheck(settings.cache);
  if (settings.pace !== undefined) yield await redisCheck("pace", settings.pace);
}

async function neededNode(): Promise<string> {
  const text = await readFile(packagePath("package.json"), "utf8");
  return (JSON.parse(text) as { engines: { node: string } }).engines.node;
}

/** @param range alternatives such as `^20.19.0 || >=24` */
export function nodeCheck(version: string, range: string): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const fits = range.split("||").some((each) => {
    const [, sign, wanted = "0", least = "0"] = /(\^|>=)(\d+)(?:\.(\d+))?/.exec(each) ?? [];
    if (major === Number(wanted)) return minor >= Number(least);
    return sign === ">=" && major > Number(wanted);
  });
  if (fits) return ok("node", `Node.js ${version}`);
  return fail("node", `Node.js ${version} is not supported`, `install Node.js ${range}`);
}

function foldersOf({
  settings,
  context,
}: DoctorCall): readonly (readonly [string, string | null])[] {
  const { cache } = settings;
  return [
    ["state folder", userStateFolder(context.env)],
    ...(cache === undefined || cache.includes("://") ? [] : [["cache folder", cache] as const]),
  ];
}

/** The folder of an output, which a run does not create. */
async function* outputCheck(output: string): AsyncGenerator<Check, void, undefined> {
  if (output === "-" || /^[\w+.-]+:/.test(output)) return;
  const folder = resolve(dirname(output));
  yield existsSync(folder)
    ? await diskCheck("output folder", folder)
    : fail("output folder", `${folder} does not exist`, "create it, or name another folder");
}

/** Free space, in bytes, below which a folder is warned about, and below which it fails. */
const space = { warn: 1e9, fail: 50e6 };

/** Whether a folder, or the one that it would be made in, is writable and has space. */
export async function diskCheck(
  name: string,
  folder: string | null,
  freeOf: (path: string) => Promise<number> = freeBytes,
): Promise<Check> {
  if (folder === null) {
    return warn(
      name,
      "neither XDG_STATE_HOME nor HOME is set",
      "set HOME, so that quotas are counted across runs",
    );
  }
  const path = resolve(folder);
  try {
    const existing = await nearest(path);
    await access(existing, constants.W_OK);
    const free = await freeOf(existing);
    const finding = `${path}, ${formatBytes(free)} free`;
    if (free < space.fail) return fail(name, finding, "free space on that disk");
    return free < space.warn
      ? warn(name, finding, "free space on that disk soon")
      : ok(name, finding);
  } catch (error) {
    return fail(
      name,
      `cannot write to ${path}: ${faultReason(error)}`,
      "name another folder, or correct the permissions of this one",
    );
  }
}

async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

async function nearest(path: string): Promise<string> {
  try {
    if ((await stat(path)).isDirectory()) return path;
  } catch (error) {
    const above = dirname(path);
    if ((error as NodeJS.ErrnoException).code === "ENOENT" && above !== path) return nearest(above);
    throw error;
  }
  throw new Error("it is not a folder");
}

/** Caches up to this size, in bytes, are checked in full. */
const checkedInFull = 256e6;

/** Whether a cache can be read and is not damaged. */
async function cacheCheck(cache: string | undefined): Promise<Check> {
  if (cache === undefined) return ok("cache", "none in use");
  if (isRedisAddress(cache)) return redisCheck("cache", cache);
  const { cacheBytes, cacheFault, openCacheFile } = await import("../../store/cache/cache-file.js");
  try {
    const database = await openCacheFile(cache, { readOnly: true });
    if (database === null) return ok("cache", `${cache} has no answers yet`);
    try {
      const bytes = cacheBytes(cache);
      const isSmall = bytes <= checkedInFull;
      const sql = isSmall
        ? "PRAGMA quick_check(1)"
        : "SELECT 'ok' AS quick_check FROM answers LIMIT 1";
      const row = database.prepare(sql).get() as { quick_check: string } | undefined;
      const found = row?.quick_check ?? "ok";
      if (found !== "ok") {
        return fail(
          "cache",
          `${cache} is damaged: ${found}`,
          `remove it: repute cache clear ${cache}`,
        );
      }
      const extent = isSmall ? "undamaged" : "readable; too large to check in full";
      return ok("cache", `${cache}, ${formatBytes(bytes)}, ${extent}`);
    } finally {
      database.close();
    }
  } catch (error) {
    const { message, hint } = cacheFault(cache, "read", error);
    return fail("cache", message, hint ?? "correct its permissions, or name another folder");
  }
}

/** Whether a Redis server answers and suits its use. */
async function redisCheck(name: "cache" | "pace", address: string): Promise<Check> {
  const { checkRedis } = await import("./check-redis.js");
  return checkRedis(name, address);
}
