import { expect, test } from "vitest";
import { queryResultSchema } from "../../src/core/endpoints/query.js";
import { recogniseItem } from "../../src/core/item/recognise.js";
import { type JsonObject, unasked } from "../../src/core/finding.js";
import { verdictOf } from "../../src/core/verdict.js";
import { endpoints } from "../../src/core/endpoints/endpoints.js";
import { syntheticAnswers, syntheticShares } from "../../src/service/synthetic-answers.js";
import { contradictoryTimes } from "../helpers/contradictory-times.js";
import { ask, runningService } from "./running-service.js";

const count = 1000;

/** Texts of every kind, by number. */
const texts: Readonly<Record<string, (n: number) => string>> = {
  ipv4: (n) => `203.${n >> 8}.${n & 255}.${(n * 7) & 255}`,
  ipv6: (n) => `2001:db8:${n.toString(16)}::1`,
  domain: (n) => `host-${n}.example.org`,
  url: (n) => `http://example.com/${n}`,
  sha1: (n) => n.toString(16).padStart(40, "0"),
  email: (n) => `user-${n}@example.net`,
};

function answered(kind: string, seed = 1) {
  const answer = syntheticAnswers(seed);
  return Array.from({ length: count }, (_, n) => {
    const { item } = recogniseItem(texts[kind]!(n));
    return { item: item!, ...answer(item!) };
  });
}

test.each(Object.keys(texts))(
  "answers for %s are valid, and have the documented shares",
  (kind) => {
    const tally = { malicious: 0, suspicious: 0, listed: 0, none: 0, partial: 0 };
    for (const { result, quickCheck: own, partial } of answered(kind)) {
      expect(queryResultSchema.safeParse(result).error).toBeUndefined();
      expect(contradictoryTimes(result)).toEqual([]);
      if (result.type === "IP_BOGON") continue;
      const quickCheck = (own ?? endpoints["quick-check"].answerFrom(result)) as JsonObject;
      const verdict = verdictOf({
        ...unasked("complete", null),
        answers: { query: { result }, "quick-check": { result: quickCheck } },
      });
      if (verdict !== null) tally[verdict]++;
      if (partial !== undefined) tally.partial++;
    }
    for (const [name, share] of Object.entries(syntheticShares)) {
      const found = tally[name as keyof typeof tally] / count;
      // Four standard deviations.
      expect(Math.abs(found - share)).toBeLessThan(4 * Math.sqrt((share * (1 - share)) / count));
    }
  },
);

test("the same seed gives the same answers, another seed different ones", () => {
  expect(answered("ipv4")).toEqual(answered("ipv4"));
  expect(answered("ipv4", 2)).not.toEqual(answered("ipv4"));
});

test("reserved addresses stay bogons; documentation addresses have answers", () => {
  const typeOf = (ip: string) => syntheticAnswers(1)({ kind: "ip", value: ip }).result.type;
  expect(["10.0.0.1", "127.0.0.1", "fe80::1", "224.0.0.1"].map(typeOf)).toEqual(
    Array(4).fill("IP_BOGON"),
  );
  expect(["192.0.2.200", "198.18.0.9", "2001:db8::9"].map(typeOf)).toEqual(Array(3).fill("IP"));
});

test("a partial answer stays partial, and its quick check is complete", async () => {
  const service = await runningService({ synthetic: 1 });
  const partial = answered("ipv4").find((entry) => entry.partial !== undefined)!;
  for (let time = 0; time < 3; time++) {
    const { status, body } = await ask(service, `/beta/query/${partial.item.value}`);
    expect(status).toBe(503);
    expect(body).toContain('"status":"partial_success"');
  }
  expect((await ask(service, `/beta/quick-check/${partial.item.value}`)).status).toBe(200);
});
