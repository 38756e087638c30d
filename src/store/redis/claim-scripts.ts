import { script } from "./redis-link.js";

/** KEYS: answer, claim. ARGV: owner, milliseconds, whether to claim despite an answer. */
export const claimScript = script(`
if ARGV[3] == '0' and redis.call('EXISTS', KEYS[1]) == 1 then return 'answered' end
local owner = redis.call('GET', KEYS[2])
if owner and owner ~= ARGV[1] then return 'theirs' end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
return 'mine'
`);

/** KEYS: claims. ARGV: owner, milliseconds; 0 releases them. */
export const renewScript = script(`
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then
    if ARGV[2] == '0' then redis.call('DEL', key) else redis.call('PEXPIRE', key, ARGV[2]) end
  end
end
return 1
`);
