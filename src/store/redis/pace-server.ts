import { createHash } from "node:crypto";
import { serviceAddress } from "../cache-key.js";
import { priorities, type Priority } from "./redis-address.js";
import { script, type ScriptServer, type ScriptValue } from "./script.js";

/** The limit of a rate. Times are milliseconds. */
export interface PaceWindow {
  readonly name: string;
  /** Interval between requests on average. */
  readonly interval: number;
  /** Maximum backlog that may be caught up with. */
  readonly backlog: number;
  /** Interval while catching up. */
  readonly fast: number;
  /** How late a slot may be used. */
  readonly late: number;
}

/** What everybody who shares a pace knows. Times are milliseconds of the server. */
interface PaceState {
  /** Number of times so far that something was learned or a pause began. */
  readonly ticket: number;
  /** Ticket of the last request that was accepted. */
  readonly good: number;
  /** Nothing may start before. */
  readonly hold: number;
  /** Time in which the rate that was found was not used up. */
  readonly idle: number;
  /** What was learned: in a request if its ticket may be new, in a grant if it is not the caller's; else "". */
  readonly learned: string;
}

interface TakeRequest extends PaceState {
  readonly windows: readonly PaceWindow[];
  /** Slots wanted; 0 to only return some. */
  readonly want: number;
  /** Milliseconds until the caller has the reply. */
  readonly lead: number;
  /** Unused slots of earlier grants. */
  readonly credit: number;
}

interface Grant extends PaceState {
  readonly now: number;
  /** 0: none; call again at `at`. */
  readonly slots: number;
  /** Start of the first slot. */
  readonly at: number;
  readonly spacing: number;
  /** Number of slots handed out so far, less those returned. */
  readonly sent: number;
}

/** A caller, and the limit that it obeys. */
interface PaceCaller {
  readonly id: string;
  readonly service: string;
  /** All endpoints, or one. */
  readonly scope: string;
  readonly priority: Priority;
}

/** Hands out time slots from one place to every process that shares a pace. */
export class PaceServer {
  readonly #server: ScriptServer;
  readonly #caller: readonly [id: string, priority: number];
  readonly #keys: readonly string[];

  constructor(server: ScriptServer, { id, service, scope, priority }: PaceCaller) {
    this.#server = server;
    this.#caller = [id, priorities.indexOf(priority)];
    const key = `${servicePrefix(service)}slots:${scope}`;
    this.#keys = [key, `${key}:waiting`, `${key}:expiry`];
  }

  /** Rejects if the server does not answer. */
  async take(request: TakeRequest): Promise<Grant> {
    const { windows, want, lead, credit, ticket, good, hold, idle, learned } = request;
    const args: ScriptValue[] = ["", ...this.#caller, want, lead, credit, ticket, good, hold];
    args.push(idle, learned);
    for (const { name, interval, backlog, fast } of windows)
      args.push(name, interval, backlog, fast);
    const [news, ...rest] = (await this.#server.run(takeScript, this.#keys, args)) as string[];
    const grant = Object.fromEntries(rest.map((value, at) => [replied[at], Number(value)]));
    return { ...(grant as Record<(typeof replied)[number], number>), learned: news ?? "" };
  }
}

/** Numbers in the reply of the script, after what was learned. */
const replied = [
  "now",
  "slots",
  "at",
  "spacing",
  "ticket",
  "good",
  "hold",
  "idle",
  "sent",
] as const;

/**
 * Begin of the keys of a service. Its address may have a name that others should not read, so they have
 * a hash of it; the braces keep them together in one slot.
 */
export function servicePrefix(service: string): string {
  const hash = createHash("sha256").update(serviceAddress(service)).digest("hex").slice(0, 24);
  return `repute:{${hash}}:`;
}

/**
 * Hands out a block of time slots: the generic cell rate algorithm (ITU-T I.371, annex A) with one due
 * time per window. Slots reach at most 100 ms ahead, so that a pause soon holds every caller.
 *
 * Early callers are queued by priority, then by arrival, and get the time at which to call again. When
 * hardly any slot is handed out ahead, every caller is served, so that no time is lost to a queue whose
 * first member is late or dead.
 *
 * What was learned is replaced only by that of a higher ticket. Keys are dropped after a day without a
 * call. Time is the server's, in milliseconds; it never goes back, even if the server's clock does: `skew`
 * makes up for it.
 *
 * KEYS: hash of the pace, queue of callers, and when each of them counts as gone. ARGV: time if it isn't
 * the server's (in tests), caller, priority (0 is highest), the other members of a `TakeRequest`, then
 * name, interval, backlog and fast of each window.
 */
const takeScript = script(`
local AHEAD, BLOCK, FRESH, SECOND = 100, 25, 150, 1000
local h, waiting, expiry = KEYS[1], KEYS[2], KEYS[3]
local function text(n) return string.format('%.3f', n) end
local f = redis.call('HMGET', h, 'skew', 'last', 'next', 'hold', 'ticket', 'good', 'idle', 'sent')
local skew, last, next = tonumber(f[1]) or 0, tonumber(f[2]) or 0, tonumber(f[3])
local t = redis.call('TIME')
local now = skew + (tonumber(ARGV[1]) or t[1] * 1000 + t[2] / 1000)
if now < last then
  skew = skew + last - now
  now = last
end
local id, priority, want, lead = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local credit, known, learned = tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[11]
local ticket, good = tonumber(f[5]) or 0, math.max(tonumber(f[6]) or 0, tonumber(ARGV[8]))
local hold = math.max(tonumber(f[4]) or 0, tonumber(ARGV[9]))
local unused, sent = tonumber(f[7]) or 0, (tonumber(f[8]) or 0) - credit
if learned ~= '' and known > ticket then
  ticket = known
  unused = math.max(unused, tonumber(ARGV[10]))
  redis.call('HSET', h, 'learned', learned)
  learned = ''
elseif learned ~= '' or known ~= ticket then
  learned = redis.call('HGET', h, 'learned') or ''
end
-- No recent slot: no caller asked, all data were lost, or the clock was set forward. In the latter cases,
-- slots handed out before may still be in use.
local idle = not next or next + SECOND < now
if idle then next = now + FRESH end
local start = math.max(now + lead, next, hold)
local windows = {}
for i = 12, #ARGV, 4 do
  local w = { name = 'due ' .. ARGV[i], interval = tonumber(ARGV[i + 1]) }
  w.backlog, w.fast = tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
  w.due = (tonumber(redis.call('HGET', h, w.name)) or now) - credit * w.interval
  if w.name == 'due found' then unused = unused + math.max(0, now - w.backlog - w.due) end
  w.due = math.max(w.due, now - w.backlog)
  -- Then there is no backlog to catch up with either.
  if idle then w.due = start end
  start = math.max(start, w.due)
  windows[#windows + 1] = w
end

for _, gone in ipairs(redis.call('ZRANGEBYSCORE', expiry, '-inf', text(now))) do
  redis.call('ZREM', waiting, gone)
  redis.call('ZREM', expiry, gone)
end
local rank = tonumber(redis.call('ZSCORE', waiting, id))
local class = priority * 1e13
if not rank or math.floor(rank / 1e13) ~= priority then
  rank = class + redis.call('HINCRBY', h, 'arrivals', 1) % 1e13
end
local before = redis.call('ZCOUNT', waiting, '-inf', '(' .. text(rank))

local slots, at, spacing = 0, 0, 0
local most = 1
if want > 0 then
  local slowest = 0.001
  for _, w in ipairs(windows) do slowest = math.max(slowest, w.fast) end
  most = math.max(1, math.min(want, math.floor(BLOCK / slowest)))
  local soon = start - now - lead
  if soon <= AHEAD and (before == 0 or soon <= AHEAD / 4) then
    slots, at = most, start
    for _, w in ipairs(windows) do
      local lasts = w.due + slots * w.interval <= start + slots * w.fast
      spacing = math.max(spacing, lasts and w.fast or w.interval)
    end
    for _, w in ipairs(windows) do
      w.due = math.max(w.due, start - w.backlog) + slots * w.interval
    end
    next = start + slots * spacing
    redis.call('ZREM', waiting, id)
    redis.call('ZREM', expiry, id)
  else
    local block = BLOCK
    for _, w in ipairs(windows) do block = math.max(block, most * w.interval) end
    local wait = math.max(1, start - lead - AHEAD - now)
    wait = math.min(SECOND, wait + before * math.min(block, most * slowest))
    at = now + wait
    redis.call('ZADD', waiting, text(rank), id)
    redis.call('ZADD', expiry, text(at + SECOND / 2), id)
    redis.call('PEXPIRE', waiting, 86400000)
    redis.call('PEXPIRE', expiry, 86400000)
  end
end

sent = sent + slots
local changes = { 'skew', text(skew), 'last', text(now), 'next', text(next), 'hold', text(hold),
  'ticket', ticket, 'good', good, 'idle', text(unused), 'sent', sent }
for _, w in ipairs(windows) do
  changes[#changes + 1] = w.name
  changes[#changes + 1] = text(w.due)
end
redis.call('HSET', h, unpack(changes))
redis.call('PEXPIRE', h, 86400000)
return { learned, text(now), slots, text(at), text(spacing), ticket, good, text(hold), text(unused), sent }
`);
