import { beforeEach, describe, expect, test } from "vitest";
import { SharedLimit } from "../../../../../src/lookup/pace/shared/shared-limit.js";
import { PaceServer } from "../../../../../src/store/redis/pace-server.js";
import type {
  Script,
  ScriptServer,
  ScriptValue,
} from "../../../../../src/store/redis/redis-link.js";
import { ManualClock } from "../../../../helpers/manual-clock.js";

/** Keeps what was published last, as the script does. */
class Published implements ScriptServer {
  version = 0;
  learned = "";
  ticket = 0;
  holdMs = 0;
  probing = false;
  /** Publications, refused ones too. */
  calls = 0;
  /** Before this many calls, another worker publishes something. */
  overtaken = 0;
  /** Rejects this many calls. */
  away = 0;

  async run(_: Script, __: readonly string[], args: readonly ScriptValue[]): Promise<unknown> {
    this.calls++;
    if (this.away > 0) {
      this.away--;
      throw new Error("no connection");
    }
    if (this.overtaken > 0) {
      this.overtaken--;
      this.version++;
    }
    const [, version, learned, ticket, hold, probing] = args;
    if (String(version) !== String(this.version))
      return ["0", 0, String(this.version), this.learned];
    this.version++;
    this.learned = String(learned);
    this.ticket = Number(ticket);
    this.holdMs = Math.max(this.holdMs, Number(hold) / 1000);
    this.probing = probing === 1;
    return ["0", 1, String(this.version), ""];
  }
}

let published: Published;
let clock: ManualClock;
beforeEach(() => {
  published = new Published();
  clock = new ManualClock();
});

function limitOf(id: string): SharedLimit {
  const caller = { id, service: "https://a.test", scope: "all", priority: "normal" } as const;
  return new SharedLimit({
    server: new PaceServer(published, caller),
    adaptive: true,
    clock,
    random: () => 0,
    serverMs: () => clock.monotonic(),
  });
}

/** Hands over what is published, as the reply to a request for slots does. */
function tell(limit: SharedLimit): void {
  const { version, learned } = published;
  const isKnown = String(version) === limit.version;
  limit.receive({ version: String(version), learned: isKnown ? "" : learned, isNew: false });
}

const names = (limit: SharedLimit): readonly string[] => limit.windows().map(({ name }) => name);

describe("a shared limit", () => {
  test("publishes answers together after 100 ms", async () => {
    const limit = limitOf("a");
    for (let n = 0; n < 50; n++) limit.accepted(0);
    await clock.advance(99);
    expect(published.calls).toBe(0);
    await clock.advance(1);
    expect(published.calls).toBe(1);
    expect(JSON.parse(published.learned).limit.adaptive.answers).toBe(50);
  });

  test("publishes a pause at once, with answers before it", async () => {
    const limit = limitOf("a");
    for (let n = 0; n < 20; n++) limit.accepted(0);
    await limit.throttled(3_000, 0);
    expect(published).toMatchObject({ calls: 1, ticket: 1, holdMs: 3_000 });
    const { known, accepted } = JSON.parse(published.learned).limit.adaptive;
    expect(known).toBe(10);
    expect(accepted.counts).toContain(20);
  });

  test("adds its answers to what others published meanwhile", async () => {
    const [first, second] = [limitOf("a"), limitOf("b")];
    for (let n = 0; n < 7; n++) first.accepted(0);
    await first.publish();
    for (let n = 0; n < 5; n++) second.accepted(0);
    await second.publish();
    expect(published.calls).toBe(3);
    expect(JSON.parse(published.learned).limit.adaptive.answers).toBe(12);
    expect(second.version).toBe("2");
  });

  test("reports less often while others report too", async () => {
    const limit = limitOf("a");
    limit.accepted(0);
    await limit.publish();
    // Once may be by chance.
    for (const [times, intervalMs] of [
      [1, 100],
      [2, 150],
    ] as const) {
      published.overtaken = times;
      limit.accepted(0);
      await limit.publish();
      const { calls } = published;
      limit.accepted(0);
      await clock.advance(intervalMs * 0.9);
      expect(published.calls).toBe(calls);
      await clock.advance(intervalMs * 0.1);
      expect(published.calls).toBe(calls + 1);
    }
  });

  test("counts one pause for the throttle answers of several workers", async () => {
    const [first, second] = [limitOf("a"), limitOf("b")];
    await Promise.all([first.throttled(null, 0), second.throttled(null, 0)]);
    expect(published.ticket).toBe(1);
  });

  test("finds a limit from the answers of all, and every worker obeys it", async () => {
    const [first, second] = [limitOf("a"), limitOf("b")];
    for (let n = 0; n < 60; n++) {
      const limit = n % 2 === 0 ? first : second;
      tell(limit);
      for (let i = 0; i < 5; i++) limit.accepted(published.ticket);
      await limit.throttled(null, published.ticket);
      await clock.advance(100);
    }
    for (const limit of [first, second]) tell(limit);
    expect([names(first), names(second)]).toEqual([["found"], ["found"]]);
    expect(first.windows()).toEqual(second.windows());
  });

  test("passes on a rate that the service declares, once", async () => {
    const [first, second] = [limitOf("a"), limitOf("b")];
    for (let n = 0; n < 3; n++) first.advise("query", { count: 10, perMs: 1000 });
    await first.publish();
    expect(published.calls).toBe(1);
    tell(second);
    expect(names(second)).toContain("advised query");
  });

  test("writes back what it knows when the server has lost it", async () => {
    const limit = limitOf("a");
    await limit.throttled(5_000, 0);
    published = Object.assign(published, { version: 0, learned: "", ticket: 0 });
    limit.receive({ version: "0", learned: "", isNew: true });
    await limit.publish();
    expect(published).toMatchObject({ version: 1, ticket: 1 });
  });

  test("keeps its reports while the server is away", async () => {
    const limit = limitOf("a");
    published.away = 3;
    for (let n = 0; n < 20; n++) limit.accepted(0);
    void limit.throttled(2_000, 0);
    await clock.advance(200);
    limit.accepted(0);
    expect(published.version).toBe(0);
    await clock.advance(200);
    expect(published).toMatchObject({ version: 1, ticket: 1 });
    const { counts } = JSON.parse(published.learned).limit.adaptive.accepted;
    expect(counts).toEqual([20, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
  });

  test("publishes the last answers when it is closed, and does not wait for a server that is away", async () => {
    const limit = limitOf("a");
    limit.accepted(0);
    await limit.close();
    expect(published.version).toBe(1);
    const other = limitOf("b");
    other.accepted(0);
    published.away = 1;
    await other.close();
    expect(published.version).toBe(1);
  });
});
