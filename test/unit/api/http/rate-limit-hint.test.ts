import { expect, test } from "vitest";
import { rateLimitHintMs } from "../../../../src/api/http/rate-limit-headers.js";
import { ManualClock } from "../../../helpers/manual-clock.js";

test.each([
  [{ ratelimit: '"default";r=0;t=5' }, 5000],
  [{ ratelimit: "limit=100, remaining=0, reset=7" }, 7000],
  [{ "ratelimit-remaining": "0", "ratelimit-reset": "3" }, 3000],
  [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": "2" }, 2000],
  [{ ratelimit: '"minute";r=9;t=4, "day";r=0;t=900' }, 900_000],
  [{ ratelimit: ['"minute";r=0;t=4', '"day";r=0;t=900'] }, 900_000],
  [{ ratelimit: '"minute";r=9;t=4, "day";r=10;t=900' }, null],
  [{ ratelimit: '"default";r=0', "ratelimit-policy": '"default";q=100;w=60' }, null],
  [{ "x-ratelimit-remaining": "12", "x-ratelimit-reset": "2" }, null],
  [{ "x-ratelimit-remaining": "0" }, null],
  [{}, null],
])("%j asks to wait %s", (headers, expected) => {
  expect(rateLimitHintMs(headers, new ManualClock())).toBe(expected);
});
