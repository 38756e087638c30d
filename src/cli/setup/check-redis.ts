import { RedisLink } from "../../store/redis/redis-link.js";
import { type Check, fail, failWith, ok, warn } from "./check.js";

/** Whether a Redis server answers, and is set up for a pace or a cache. */
export async function checkRedis(name: "cache" | "pace", address: string): Promise<Check> {
  let fault = "no answer";
  let link: RedisLink;
  try {
    link = await RedisLink.open(address, {
      environment: process.env,
      onAway: (reason) => void (fault = reason),
    });
  } catch (error) {
    return failWith(name, error);
  }
  const { shown } = link.address;
  try {
    const started = performance.now();
    const info = await link.ask((redis) => redis.info());
    const ms = Math.max(1, Math.round(performance.now() - started));
    return judge(name, `${shown}, answers in ${ms} ms`, info);
  } catch {
    const effect = name === "pace" ? "runs wait for it" : "runs continue without it";
    return fail(name, `${shown} is away (${fault}); ${effect}`, "start it, or check the address");
  } finally {
    link.close();
  }
}

function judge(name: "cache" | "pace", finding: string, info: string): Check {
  const value = (key: string): string =>
    new RegExp(`^${key}:(.*?)\\r?$`, "m").exec(info)?.[1] ?? "";
  if (value("cluster_enabled") === "1") {
    return fail(name, `${finding}, but is part of a cluster`, "name a single Redis server");
  }
  if (value("role") === "slave") {
    return fail(name, `${finding}, but is a replica`, "name the primary");
  }
  if (name === "cache") return ok(name, finding);
  const policy = value("maxmemory_policy");
  if (policy !== "noeviction" && value("maxmemory") !== "0") {
    return warn(
      name,
      `${finding}, but may evict the pace (${policy})`,
      "set maxmemory-policy noeviction",
    );
  }
  if (value("aof_enabled") === "0") {
    return warn(
      name,
      `${finding}, but forgets quotas when it restarts`,
      "set appendonly yes, if a rate per hour or day is given",
    );
  }
  return ok(name, finding);
}
