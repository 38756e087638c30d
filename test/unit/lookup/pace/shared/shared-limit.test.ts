import { beforeEach, describe, expect, test } from "vitest";
import { SharedLimit } from "../../../../../src/lookup/pace/shared/shared-limit.js";
import { PaceServer } from "../../../../../src/store/redis/pace-server.js";
import type {
  Script,
  ScriptServer,
  ScriptValue,
} from "../../../../../src/store/redis/redis-link.js";
import { ManualClock } from "../../../../helpers/manual-clock.js";

/** Keeps what was reported last, as the script does. */
class Reports implements ScriptServer {
  ticket = 0;
  holdMs = 0;
  learned = "";
  /** Reports, refused ones too. */
  calls = 0;
  /** Rejects this many calls. */
  away = 0;

  async run(_: Script, __: readonly string[], args: readonly ScriptValue[]): Promise<unknown> {
    this.calls++;
    if (this.away > 0) {
      this.away--;
      throw new Error("no connection");
    }
    const [, ticket, hold, learned] = args;
    this.holdMs = Math.max(this.holdMs, Number(hold) / 1000);
    if (Number(ticket) < this.ticket) return 0;
    this.ticket = Number(ticket) + 1;
    this.learned = String(learned);
    return 1;
  }
}

let reports: Reports;
let clock: ManualClock;
beforeEach(() => {
  reports = new Reports();
  clock = new ManualClock();
});

function limitOf(id: string): SharedLimit {
  const caller = { id, service: "https://a.test", scope: "all", priority: "normal" } as const;
  return new SharedLimit({
    server: new PaceServer(reports, caller),
    clock,
    random: () => 0,
    serverMs: () => clock.monotonic(),
  });
}

/** Hands over what is known, as the reply to a request for slots does. */
function tell(limit: SharedLimit, sent = 0): void {
  const { ticket, holdMs, learned } = reports;
  const isKnown = ticket === limit.known.ticket;
  const empty = { now: 0, slots: 0, at: 0, spacing: 0, good: 0, idle: 0 };
  limit.receive({
    ...empty,
    ticket,
    hold: holdMs * 1000,
    sent,
    learned: isKnown ? "" : learned,
  });
}

const names = (limit: SharedLimit): readonly string[] => limit.windows().map(({ name }) => name);

describe("a shared limit", () => {
  test("reports a pause at once, and nothing of accepted answers", async () => {
    const limit = limitOf("a");
    for (let n = 0; n < 20; n++) limit.accepted(0);
    expect(reports.calls).toBe(0);
    await limit.throttled(3_000, 0);
    expect(reports).toMatchObject({ calls: 1, ticket: 1, holdMs: 3_000 });
  });

  test("counts one pause for the throttle answers of several workers", async () => {
    const [first, second] = [limitOf("a"), limitOf("b")];
    await Promise.all([first.throttled(null, 0), second.throttled(null, 0)]);
    expect(reports.ticket).toBe(1);
  });

  test("takes over what another worker was faster to report", async () => {
    const [first, second] = [limitOf("a"), limitOf("b")];
    await first.throttled(1_000, 0);
    for (let n = 0; n < 50; n++) second.accepted(0);
    await second.throttled(1_000, 0);
    for (const limit of [first, second]) tell(limit);
    expect(names(second)).toEqual(["found"]);
    expect(second.windows()).toEqual(first.windows());
  });

  test("finds a limit from the answers of all, and every worker obeys it", async () => {
    const [first, second] = [limitOf("a"), limitOf("b")];
    for (let n = 0; n < 60; n++) {
      const limit = n % 2 === 0 ? first : second;
      tell(limit, 5 * n);
      for (let i = 0; i < 5; i++) limit.accepted(reports.ticket);
      await limit.throttled(null, reports.ticket);
      await clock.advance(100);
    }
    for (const limit of [first, second]) tell(limit);
    expect([names(first), names(second)]).toEqual([["found"], ["found"]]);
    expect(first.windows()).toEqual(second.windows());
  });

  test("keeps a rate that the service declares", () => {
    const limit = limitOf("a");
    for (let n = 0; n < 3; n++) limit.advise("query", { count: 10, perMs: 1000 });
    expect(names(limit)).toEqual(["advised query"]);
  });

  test("restores what it knows when the server has lost it", async () => {
    const limit = limitOf("a");
    await limit.throttled(5_000, 0);
    Object.assign(reports, { ticket: 0, holdMs: 0, learned: "" });
    tell(limit);
    await clock.advance(0);
    expect(reports).toMatchObject({ ticket: 2, holdMs: 5_000 });
    expect(JSON.parse(reports.learned).waitMs).toBe(5_000);
  });

  test("repeats its reports while the server is away", async () => {
    const limit = limitOf("a");
    reports.away = 3;
    void limit.throttled(2_000, 0);
    await clock.advance(200);
    expect(reports.ticket).toBe(0);
    await clock.advance(200);
    expect(reports).toMatchObject({ ticket: 1, holdMs: 2_000 });
  });

  test("repeats nothing once it is closed", async () => {
    const limit = limitOf("a");
    reports.away = 9;
    const reported = limit.throttled(2_000, 0);
    limit.close();
    await reported;
    expect(reports.calls).toBe(1);
  });
});
