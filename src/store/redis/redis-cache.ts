import { createHash, randomUUID } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { systemClock } from "../../core/clock.js";
import { FatalError } from "../../core/errors.js";
import type { Finding } from "../../core/finding.js";
import {
  answerKind,
  decodeEntry,
  encodeEntry,
  isFresh,
  lifetimeMs,
  readEntryHead,
} from "../cache/cache-entry.js";
import type { CacheOptions } from "../cache/finding-cache.js";
import { MemoryStore } from "../memory-store.js";
import type { Claims, FindingStore } from "../store.js";
import { claimScript, renewScript } from "./claim-scripts.js";
import { RedisLink } from "./redis-link.js";

/** How long a claim outlives its owner, and how often the owner renews it, in milliseconds. */
const claim = { forMs: 10_000, renewMs: 3_000 };

/** Answers kept while the server is away. */
const mostUnsent = 10_000;

/** How long the measured time of the server is used, in milliseconds. */
const timeForMs = 60_000;

/**
 * Opens a cache that machines share. It returns only fresh findings, by the clock of the server, and
 * never stores failures. While the server is away, it acts as an empty one.
 *
 * @throws UsageError `driver_missing`
 */
export async function openRedisCache(options: CacheOptions): Promise<FindingStore> {
  const { folder, onWarning } = options;
  let cache: RedisCache | null = null;
  try {
    const link = await RedisLink.open(folder, {
      environment: process.env,
      onAway: (reason, shown) =>
        onWarning(`the cache ${shown} is away (${reason}); the run continues without it`),
      onBack(seconds, shown) {
        onWarning(`the cache ${shown} is back after ${seconds} s`);
        cache?.resend();
      },
    });
    cache = new RedisCache(link, options);
    return cache;
  } catch (error) {
    if (!(error instanceof FatalError)) throw error;
    onWarning(`the cache ${error.message}; ${error.hint}; the run continues without the cache`);
    return new NoCache();
  }
}

/** Stands for a cache that cannot be used. */
class NoCache extends MemoryStore<Finding> {
  override put(): Promise<void> {
    return Promise.resolve();
  }
}

/** Where an answer is stored. Its key may be long and has characters that consoles show badly. */
function answerKey(key: string): string {
  return `${answerPrefix}${createHash("sha256").update(key).digest("base64url").slice(0, 22)}`;
}

export const answerPrefix = "repute:answer:";

/** An entry of the cache; null if it is damaged. */
export function unpackEntry(stored: Buffer): string | null {
  try {
    return inflateRawSync(stored).toString();
  } catch {
    return null;
  }
}

class RedisCache implements FindingStore, Claims {
  readonly #link: RedisLink;
  readonly #options: CacheOptions;
  readonly #id = randomUUID();
  readonly #claimed = new Set<string>();
  readonly #open = new Set<Promise<unknown>>();
  readonly #unsent = new Map<string, Finding>();
  #renewal: NodeJS.Timeout | null = null;
  #hasWarnedOfDamage = false;
  /** Server minus monotonic time in milliseconds, and when it was measured. */
  #time: { readonly aheadMs: number; readonly atMs: number } | null = null;

  constructor(link: RedisLink, options: CacheOptions) {
    this.#link = link;
    this.#options = options;
  }

  /** A cache that is only read claims nothing. */
  get claims(): Claims | undefined {
    return this.#options.readOnly === true ? undefined : this;
  }

  async get(key: string): Promise<Finding | null> {
    if (!this.#link.isReady) return null;
    try {
      const [stored, now] = await Promise.all([
        this.#link.ask((redis) => redis.getBuffer(answerKey(key))),
        this.#now(),
      ]);
      return stored === null ? null : this.#freshFinding(key, stored, now);
    } catch {
      return null;
    }
  }

  async put(key: string, finding: Finding): Promise<void> {
    const kind = answerKind(finding);
    if (kind === null || this.#options.readOnly === true) return this.release(key);
    const done = this.#store(key, finding, lifetimeMs(kind, this.#options.ttlMs));
    this.#open.add(done);
    await done.finally(() => this.#open.delete(done));
  }

  readonly claim = async (
    key: string,
    despite: boolean,
  ): Promise<"mine" | "theirs" | "answered"> => {
    if (!this.#link.isReady) return "mine";
    const keys = [answerKey(key), claimKey(key)];
    try {
      const args = [this.#id, claim.forMs, despite ? 1 : 0];
      const whose = (await this.#link.run(claimScript, keys, args)) as Awaited<
        ReturnType<Claims["claim"]>
      >;
      if (whose !== "mine") return whose;
      this.#claimed.add(key);
      this.#renewal ??= setInterval(
        () => this.#renew([...this.#claimed], claim.forMs),
        claim.renewMs,
      );
      return whose;
    } catch {
      return "mine";
    }
  };

  readonly release = (key: string): void => {
    if (this.#claimed.delete(key)) this.#renew([key], 0);
  };

  async sync(): Promise<void> {
    await Promise.allSettled(this.#open);
  }

  async close(): Promise<void> {
    if (this.#renewal !== null) clearInterval(this.#renewal);
    this.#renew([...this.#claimed], 0);
    await this.sync();
    this.#link.close();
  }

  /** Stores the answers that the server has missed. */
  resend(): void {
    const unsent = [...this.#unsent];
    this.#unsent.clear();
    for (const [key, finding] of unsent) void this.put(key, finding);
  }

  async #store(key: string, finding: Finding, forMs: number): Promise<void> {
    try {
      const storedAt = await this.#now();
      const kind = answerKind(finding) ?? "full";
      const entry = deflateRawSync(encodeEntry(key, finding, { kind, storedAt }));
      const px = Math.max(1, Math.round(forMs));
      await this.#link.ask((redis) => redis.set(answerKey(key), entry, "PX", px));
    } catch {
      if (this.#unsent.size < mostUnsent) this.#unsent.set(key, finding);
    }
    this.release(key);
  }

  #freshFinding(key: string, stored: Buffer, now: number): Finding | null {
    const { ttlMs, asReceived, onWarning } = this.#options;
    const entry = unpackEntry(stored);
    const head = entry === null ? null : readEntryHead(entry);
    if (entry === null || head === null) {
      const { shown } = this.#link.address;
      if (!this.#hasWarnedOfDamage) {
        onWarning(`entries of the cache ${shown} are damaged; their items are looked up again`);
      }
      this.#hasWarnedOfDamage = true;
      return null;
    }
    if (!isFresh(head, now, ttlMs)) return null;
    const { key: found, value } = decodeEntry(entry, { asReceived });
    return found === key ? value : null;
  }

  #renew(keys: readonly string[], forMs: number): void {
    if (keys.length === 0 || !this.#link.isReady) return;
    const done = this.#link
      .run(renewScript, keys.map(claimKey), [this.#id, forMs])
      .catch(() => undefined);
    this.#open.add(done);
    void done.finally(() => this.#open.delete(done));
  }

  /** Milliseconds since 1970 by the server's clock. */
  async #now(): Promise<number> {
    const now = systemClock.monotonic();
    if (this.#time === null || now - this.#time.atMs > timeForMs) {
      const [seconds = 0, us = 0] = (await this.#link.ask((redis) => redis.time())).map(Number);
      const atMs = systemClock.monotonic();
      this.#time = { aheadMs: seconds * 1000 + us / 1000 - (now + atMs) / 2, atMs };
    }
    return systemClock.monotonic() + this.#time.aheadMs;
  }
}

function claimKey(key: string): string {
  return answerKey(key).replace(answerPrefix, "repute:claim:");
}
