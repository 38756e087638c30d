import { expect, test } from "vitest";
import { faultText, redisRefusal } from "../../src/core/redis.js";

const sha = "0123456789abcdef0123456789abcdef01234567";
const readOnly = "READONLY You can't write against a read only replica.";
const noMemory = "OOM command not allowed when used memory > 'maxmemory'.";
const denied = "NOPERM this user has no permissions to run the 'hset' command";

const inScript = `ERR Error running script (call to f_${sha}): @user_script:28: -${readOnly}`;

test.each([
  [`${readOnly} script: ${sha}, on @user_script:142.`, readOnly, /replica: name the primary/],
  [inScript, readOnly, /name the primary/],
  [`${denied} script: ${sha}, on @user_script:77.`, denied, /user name and password/],
  ["WRONGPASS a\r\nusername-password pair", "WRONGPASS a username-password pair", /password/],
])("%s is a refusal without the script, and with a remedy", (message, told, hint) => {
  const refusal = redisRefusal("redis://redis.example/0", new Error(message));
  expect(refusal?.message).toBe(`redis://redis.example/0: ${told}`);
  expect(refusal?.hint).toMatch(hint);
});

test("a fault that may pass is told without the script, too", () => {
  const message = `${noMemory} script: ${sha}, on @user_script:9.`;
  expect(faultText(new Error(message))).toBe(noMemory);
});

test.each([`${noMemory} script: ${sha}, on @user_script:9.`, "LOADING", "connect ECONNREFUSED"])(
  "%s may pass",
  (message) => expect(redisRefusal("redis://redis.example/0", new Error(message))).toBeNull(),
);
