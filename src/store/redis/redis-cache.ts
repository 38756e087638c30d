import { createHash, randomUUID } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { FatalError } from "../../core/errors.js";
import type { Finding } from "../../core/finding.js";
import {
  answerKind,
  type AnswerKind,
  encodeEntry,
  EntryReader,
  lifetimeMs,
} from "../cache/cache-entry.js";
import type { CacheOptions } from "../cache/finding-cache.js";
import { type Claims, type FindingStore, MemoryStore } from "../store.js";
import { RedisLink } from "./redis-link.js";
import { script } from "./script.js";

/** How long a claim outlives its owner, and how often the owner renews it, in milliseconds. */
const claim = { forMs: 10_000, renewMs: 3_000 };

/**
 * Opens a cache that machines share. It returns only fresh findings and never
 * stores failures. While the server is away, it acts as an empty one.
 *
 * @throws UsageError `driver_missing`
 */
export async function openRedisCache(options: CacheOptions): Promise<FindingStore> {
  const { folder, onWarning } = options;
  try {
    const link = await RedisLink.open(folder, {
      environment: process.env,
      onAway: (reason, shown) =>
        onWarning(`the cache ${shown} is away (${reason}); the run continues without it`),
      onBack: (seconds, shown) => onWarning(`the cache ${shown} is back after ${seconds} s`),
    });
    return new RedisCache(link, options);
  } catch (error) {
    if (!(error instanceof FatalError)) throw error;
    onWarning(`the cache ${error.message}; ${error.hint}; the run continues without the cache`);
    return new MemoryStore<Finding>({ most: 0 });
  }
}

/** Where an answer is stored. Its key may be long and has characters that consoles show badly. */
function answerKey(key: string): string {
  return `${answerPrefix}${createHash("sha256").update(key).digest("base64url").slice(0, 22)}`;
}

const answerPrefix = "repute:answer:";

/** An entry of the cache; null if it is damaged. */
function unpackEntry(stored: Buffer): string | null {
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
  readonly #reader: EntryReader;
  #renewal: NodeJS.Timeout | null = null;

  constructor(link: RedisLink, options: CacheOptions) {
    this.#link = link;
    this.#options = options;
    this.#reader = new EntryReader(link.address.shown, options);
  }

  /** A cache that is only read claims nothing. */
  get claims(): Claims | undefined {
    return this.#options.readOnly === true ? undefined : this;
  }

  async get(key: string): Promise<Finding | null> {
    if (!this.#link.isReady) return null;
    try {
      const stored = await this.#link.ask((redis) => redis.getBuffer(answerKey(key)));
      return stored === null ? null : this.#reader.fresh(key, unpackEntry(stored));
    } catch {
      return null;
    }
  }

  async put(key: string, finding: Finding): Promise<void> {
    const kind = answerKind(finding);
    if (kind === null || this.#options.readOnly === true) return this.release(key);
    const done = this.#store(key, finding, kind);
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

  /** An answer that the server misses is lost. */
  async #store(key: string, finding: Finding, kind: AnswerKind): Promise<void> {
    const { clock, ttlMs } = this.#options;
    const entry = deflateRawSync(encodeEntry(key, finding, { kind, storedAt: clock.now() }));
    const px = Math.max(1, Math.round(lifetimeMs(kind, ttlMs)));
    await this.#link
      .ask((redis) => redis.set(answerKey(key), entry, "PX", px))
      .catch(() => undefined);
    this.release(key);
  }

  #renew(keys: readonly string[], forMs: number): void {
    if (keys.length === 0 || !this.#link.isReady) return;
    const done = this.#link
      .run(renewScript, keys.map(claimKey), [this.#id, forMs])
      .catch(() => undefined);
    this.#open.add(done);
    void done.finally(() => this.#open.delete(done));
  }
}

function claimKey(key: string): string {
  return answerKey(key).replace(answerPrefix, "repute:claim:");
}

/** KEYS: answer, claim. ARGV: owner, milliseconds, whether to claim despite an answer. */
const claimScript = script(`
if ARGV[3] == '0' and redis.call('EXISTS', KEYS[1]) == 1 then return 'answered' end
local owner = redis.call('GET', KEYS[2])
if owner and owner ~= ARGV[1] then return 'theirs' end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
return 'mine'
`);

/** KEYS: claims. ARGV: owner, milliseconds; 0 releases them. */
const renewScript = script(`
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then
    if ARGV[2] == '0' then redis.call('DEL', key) else redis.call('PEXPIRE', key, ARGV[2]) end
  end
end
return 1
`);
