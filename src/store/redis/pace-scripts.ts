import { script } from "./redis-link.js";

/**
 * Start of every script. Time is the server's, in microseconds; it never goes back, even if the
 * server's clock does: `skew` makes up for it. KEYS[1] is the hash of one pace, ARGV[1] replaces the
 * server's time in tests.
 */
const prologue = `
local h = KEYS[1]
local function text(n) return string.format('%.0f', n) end
local function time(skew, last)
  local now
  if ARGV[1] ~= '' then
    now = tonumber(ARGV[1])
  else
    local t = redis.call('TIME')
    now = t[1] * 1000000 + t[2]
  end
  now = now + skew
  if last and now < last then
    skew = skew + last - now
    now = last
  end
  return now, skew
end
`;

/** Keys are dropped after a day without a call. */
const keep = "redis.call('PEXPIRE', h, 86400000)";

/**
 * Hands out a block of time slots: the generic cell rate algorithm (ITU-T I.371, annex A) with one due
 * time per window. Slots reach at most 100 ms ahead, so that a pause soon holds every caller.
 *
 * Early callers are queued by priority, then by arrival, and get the time at which to call again. When
 * hardly any slot is handed out ahead, every caller is served, so that no time is lost to a queue whose
 * first member is late or dead.
 *
 * ARGV: time, caller, priority (0 is highest), slots wanted, microseconds until the caller has the
 * reply, unused slots of earlier blocks, number of pauses that the caller knows, that of the last request
 * accepted, then four for each window: name, interval, backlog that may be caught up with, and interval
 * while catching up, in microseconds.
 *
 * Reply: now, slots, start or time to come back, spacing, number of pauses, that of the last request
 * accepted, pause, time in which the rate that was found was not used up, slots handed out so far, and
 * what was learned if the number of pauses differs.
 */
export const takeScript = script(`${prologue}
local AHEAD, BLOCK, FRESH, SECOND = 100000, 25000, 150000, 1000000
local f = redis.call('HMGET', h, 'skew', 'last', 'next', 'hold', 'ticket', 'good', 'idle', 'sent')
local last = tonumber(f[2])
local now, skew = time(tonumber(f[1]) or 0, last)
local id, priority, want, lead = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local credit, known = tonumber(ARGV[6]), tonumber(ARGV[7])
local next, hold, ticket = tonumber(f[3]), tonumber(f[4]) or 0, tonumber(f[5]) or 0
local good = math.max(tonumber(f[6]) or 0, tonumber(ARGV[8]))
local unused, sent = tonumber(f[7]) or 0, tonumber(f[8]) or 0
-- No recent slot: no caller asked, all data were lost, or the clock was set forward. In the latter cases,
-- slots handed out before may still be in use.
local idle = not next or next + SECOND < now
if idle then next = now + FRESH end
local start = math.max(now + lead, next, hold)
local windows = {}
for i = 9, #ARGV, 4 do
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

local waiting, expiry = KEYS[2], KEYS[3]
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
  local slowest = 1
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
    local wait = math.max(1000, start - lead - AHEAD - now)
    wait = math.min(SECOND, wait + before * math.min(block, most * slowest))
    at = now + wait
    redis.call('ZADD', waiting, text(rank), id)
    redis.call('ZADD', expiry, text(at + SECOND / 2), id)
    redis.call('PEXPIRE', waiting, 86400000)
    redis.call('PEXPIRE', expiry, 86400000)
  end
end

local changes = { 'skew', text(skew), 'last', text(now), 'next', text(next),
  'good', good, 'idle', text(unused), 'sent', sent + slots - credit }
for _, w in ipairs(windows) do
  changes[#changes + 1] = w.name
  changes[#changes + 1] = text(w.due)
end
redis.call('HSET', h, unpack(changes))
${keep}
local learned = ''
if ticket ~= known then learned = redis.call('HGET', h, 'learned') or '' end
return { text(now), slots, text(at), text(spacing), ticket, good, text(hold), text(unused),
  sent + slots - credit, learned }
`);

/**
 * Stores a pause, and what was learned, unless another caller has reported a pause since.
 *
 * ARGV: time, number of pauses that the caller knows, end of the pause, what was learned, and time in
 * which the rate was not used up: if the server has lost everything, the caller restores it.
 *
 * Reply: 1 if what was learned is stored.
 */
export const reportScript = script(`${prologue}
local f = redis.call('HMGET', h, 'hold', 'ticket', 'idle')
redis.call('HSET', h, 'hold', text(math.max(tonumber(f[1]) or 0, tonumber(ARGV[3]))))
${keep}
if tonumber(ARGV[2]) < (tonumber(f[2]) or 0) then return 0 end
redis.call('HSET', h, 'ticket', tonumber(ARGV[2]) + 1, 'learned', ARGV[4],
  'idle', text(math.max(tonumber(f[3]) or 0, tonumber(ARGV[5]))))
return 1
`);
