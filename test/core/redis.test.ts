import { expect, test } from "vitest";
import { faultText, redisRefusal } from "../../src/core/redis.js";

const sha = "0123456789abcdef0123456789abcdef01234567";
const readOnly = "READONLY You can't write against a read only replica.";
const noMemory = "OOM command not allowed when used memory > 'maxmemory'.";
const denied = "NOPERM this user has no permissions to run the 'hset' command";

test.each([
  [`${readOnly} script: ${sha}, on @user_script:142.`, readOnly],
  [`ERR Error running script (call to f_${sha}): @user_script:28: -${readOnly}`, readOnly],
  [`${noMemory} script: ${sha}, on @user_script:9.`, noMemory],
  [`${denied} script: ${sha}, on @user_script:77.`, denied],
  ["WRONGPASS invalid\r\nusername-password pair", "WRONGPASS invalid username-password pair"],
])("%s is told without the script", (message, told) => {
  expect(faultText(new Error(message))).toBe(told);
});

test.each([
  [`${readOnly} script: ${sha}, on @user_script:142.`, /replica: name the primary/],
  [
    `ERR Error running script (call to f_${sha}): @user_script:28: -${readOnly}`,
    /name the primary/,
  ],
  [`${denied} script: ${sha}, on @user_script:77.`, /user name and password/],
])("%s is a refusal with a remedy", (message, hint) => {
  const refusal = redisRefusal("redis://redis.example/0", new Error(message));
  expect(refusal?.message).toBe(`redis://redis.example/0: ${faultText(new Error(message))}`);
  expect(refusal?.hint).toMatch(hint);
});

test.each([`${noMemory} script: ${sha}, on @user_script:9.`, "LOADING", "connect ECONNREFUSED"])(
  "%s may pass",
  (message) => expect(redisRefusal("redis://redis.example/0", new Error(message))).toBeNull(),
);
