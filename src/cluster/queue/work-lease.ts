import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { Redis } from "ioredis";
import { raceAbort } from "../../core/abort.js";
import { UsageError } from "../../core/errors.js";
import type { EnrichJob } from "../../run/types.js";
import type { WorkFolder } from "../chunks/work-folder.js";
import { type QueueLink, queuePrefix, runKey } from "./chunk-queue.js";

/** How long a coordinator may be silent before another one takes over its run. */
const leaseMs = 10_000;

const renewMs = 1_000;

/** Attempts to take a lease, and the pause between them: together longer than `leaseMs`. */
const tries = { many: 24, pauseMs: 500 };

/**
 * KEYS: leases. ARGV: holder, milliseconds; 0 gives them back. Those of another holder stay, and one
 * of them is returned; else whether a lease was `free`.
 */
const renewScript = `
local stand = 'held'
local other = false
for _, key in ipairs(KEYS) do
  local holder = redis.call('GET', key)
  if holder and holder ~= ARGV[1] then other = holder
  elseif ARGV[2] == '0' then redis.call('DEL', key)
  else
    if not holder then stand = 'free' end
    redis.call('SET', key, ARGV[1], 'PX', ARGV[2])
  end
end
return other or stand
`;

/**
 * The right to coordinate a work folder and the run in it. Two coordinators would both merge the run,
 * or one would discard what the other has reached.
 */
export class WorkLease {
  readonly #redis: Redis;
  readonly #work: WorkFolder;
  readonly #holder = `process ${process.pid} on ${hostname()}, since ${new Date().toISOString()} ${randomUUID()}`;
  readonly #keys: string[];
  #sent: Promise<string> | null = null;
  #renewing: NodeJS.Timeout | null = null;
  #wasFree = false;
  #lost: UsageError | null = null;

  constructor({ redis }: QueueLink, work: WorkFolder) {
    this.#redis = redis;
    this.#work = work;
    this.#keys = [`${queuePrefix}:work:${work.name}:lease`];
  }

  /**
   * Takes the work folder, and the run of a plan if one is given: the folder may have other names. The
   * lease of a killed coordinator ends after 10 s.
   *
   * @throws UsageError `work_in_use`, naming the coordinator that has it
   */
  async take({ signal, onNotice }: EnrichJob, plan: string | null): Promise<void> {
    if (plan !== null) this.#keys.push(runKey(plan, "lease"));
    for (let tried = 0; ; tried++) {
      const stand = await raceAbort(this.#send(leaseMs), signal);
      if (isMine(stand)) break;
      if (tried === 0) {
        onNotice?.("another coordinator may be at work; waiting for its lease to end");
      }
      if (tried === tries.many) throw this.#inUse(stand);
      await delay(tries.pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
    this.#renewing ??= setInterval(() => void this.renew().catch(() => undefined), renewMs);
  }

  async renew(): Promise<void> {
    // While Redis is away, one message waits for it.
    this.#sent ??= this.#send(leaseMs).finally(() => (this.#sent = null));
    const stand = await this.#sent;
    if (stand === "free") this.#wasFree = true;
    if (!isMine(stand)) this.#lost = this.#inUse(stand);
  }

  /**
   * Whether the lease was free since the last call: a sign that Redis has lost its data.
   *
   * @throws UsageError `work_in_use` once another coordinator has taken over
   */
  check(): boolean {
    if (this.#lost !== null) throw this.#lost;
    const wasFree = this.#wasFree;
    this.#wasFree = false;
    return wasFree;
  }

  async release(): Promise<void> {
    clearInterval(this.#renewing ?? undefined);
    await this.#send(0);
  }

  #send(ms: number): Promise<string> {
    const keys = this.#keys;
    const sent = this.#redis.eval(renewScript, keys.length, ...keys, this.#holder, ms);
    return sent as Promise<string>;
  }

  #inUse(holder: string): UsageError {
    const who = holder.replace(/ \S+$/, "");
    return new UsageError(
      "work_in_use",
      `another repute enrich coordinates ${this.#work.name}: ${who}`,
      { hint: "wait for it or stop it, or name another folder with --work" },
    );
  }
}

function isMine(stand: string): boolean {
  return stand === "held" || stand === "free";
}
