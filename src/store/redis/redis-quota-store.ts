import { randomUUID } from "node:crypto";
import {
  type QuotaStore,
  type Reservation,
  type ReserveOptions,
  windowOf,
} from "../quota/quota.js";
import { servicePrefix } from "./pace-server.js";
import { script, type ScriptServer } from "./script.js";

/**
 * One count: a sorted set of entries by the time when they expire, a hash of their permits, and the
 * sum of those. Entries are reservations, or merged settled ones. Times are microseconds of the server.
 *
 * KEYS: entries, permits. ARGV[1] is the length of the window.
 */
const counting = `
local entries, permits = KEYS[1], KEYS[2]
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local window = tonumber(ARGV[1])
local function text(n) return string.format('%.0f', n) end
local function sum(n) return redis.call('HINCRBY', permits, 'sum', n) end
local function drop(id)
  sum(-(tonumber(redis.call('HGET', permits, id)) or 0))
  redis.call('ZREM', entries, id)
  redis.call('HDEL', permits, id)
end
local function settle(id, used)
  local until_ = tonumber(redis.call('ZSCORE', entries, id))
  if not until_ then return end
  drop(id)
  if used == 0 then return end
  until_ = math.min(until_, now + window)
  -- A thousandth of the window shares an entry, so that their number is bounded.
  local slot = 'slot ' .. text(math.floor(until_ / (window / 1000)))
  local known = tonumber(redis.call('ZSCORE', entries, slot)) or 0
  redis.call('ZADD', entries, text(math.max(known, until_)), slot)
  redis.call('HINCRBY', permits, slot, used)
  sum(used)
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', entries, '-inf', text(now))) do drop(id) end
redis.call('PEXPIRE', entries, math.ceil(window / 500))
redis.call('PEXPIRE', permits, math.ceil(window / 500))
`;

/** ARGV: window, quota, permits wanted, microseconds to use them in, id, earlier id, its used permits. */
const reserveScript = script(`${counting}
if ARGV[6] ~= '' then settle(ARGV[6], tonumber(ARGV[7])) end
local want, within = tonumber(ARGV[3]), tonumber(ARGV[4])
local got = math.max(0, math.min(want, tonumber(ARGV[2]) - sum(0)))
if got > 0 then
  redis.call('ZADD', entries, text(now + within + window), ARGV[5])
  redis.call('HSET', permits, ARGV[5], got)
  sum(got)
  redis.call('PEXPIRE', entries, math.ceil(window / 500))
  redis.call('PEXPIRE', permits, math.ceil(window / 500))
end
local first = redis.call('ZRANGE', entries, 0, 0, 'WITHSCORES')
-- A reservation may be settled for less when its time is over.
local wait = first[2] and tonumber(first[2]) - now or 0
for _, id in ipairs(redis.call('ZREVRANGE', entries, 0, 63)) do
  local over = tonumber(redis.call('ZSCORE', entries, id)) - window - now
  if over > 0 and string.sub(id, 1, 5) ~= 'slot ' then wait = math.min(wait, over) end
end
return { got, text(wait) }
`);

/** ARGV: window, id, used permits. */
const settleScript = script(`${counting}
settle(ARGV[2], tonumber(ARGV[3]))
return 1
`);

/** ARGV: window. */
const spentScript = script(`${counting}
return sum(0)
`);

/** Retry interval in milliseconds while the server is unavailable. */
const againMs = 250;

/**
 * Counts quotas in Redis, by its clock, for every machine that names it. A killed process leaves its
 * reservation counted in full.
 */
export class RedisQuotaStore implements QuotaStore {
  readonly #server: ScriptServer;
  readonly #prefix: string;

  /** @param service address of the service whose quotas are counted */
  constructor(server: ScriptServer, service: string) {
    this.#server = server;
    this.#prefix = servicePrefix(service);
  }

  async reserve(name: string, options: ReserveOptions): Promise<Reservation> {
    const { rate, want, nowMs, untilMs, before } = options;
    const id = randomUUID();
    try {
      const reply = await this.#server.run(reserveScript, this.#keys(name), [
        rate.perMs * 1000,
        rate.count,
        want,
        Math.round((untilMs - nowMs) * 1000),
        id,
        before?.id ?? "",
        before?.used ?? 0,
      ]);
      const [permits = 0, waitUs = 0] = (reply as unknown[]).map(Number);
      return { permits, id, nextAtMs: nowMs + Math.max(1, waitUs / 1000) };
    } catch {
      // The link has told the user. Nothing is sent meanwhile.
      return { permits: 0, id: "", nextAtMs: nowMs + againMs, busy: true };
    }
  }

  /** A reservation that cannot be settled stays counted in full. */
  async settle(name: string, id: string, used: number): Promise<void> {
    const args = [windowOf(name) * 1000, id, used];
    await this.#server.run(settleScript, this.#keys(name), args).catch(() => undefined);
  }

  /** Requests that count against a quota now. Rejects if the server doesn't answer. */
  async spent(name: string): Promise<number> {
    return Number(await this.#server.run(spentScript, this.#keys(name), [windowOf(name) * 1000]));
  }

  #keys(name: string): readonly string[] {
    const key = `${this.#prefix}quota:${name}`;
    return [key, `${key}:permits`];
  }
}
