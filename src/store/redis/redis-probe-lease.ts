import { servicePrefix } from "./pace-server.js";
import type { RedisLink } from "./redis-link.js";

/** Lets one of the processes that share a pace probe a service that doesn't answer, for all. */
export class RedisProbeLease {
  readonly #link: Pick<RedisLink, "ask">;
  readonly #key: string;
  #isHeld = false;

  constructor(link: Pick<RedisLink, "ask">, service: string) {
    this.#link = link;
    this.#key = `${servicePrefix(service)}probe`;
  }

  /** Takes or extends the lease; false while another process has it. True if Redis doesn't answer. */
  async take(forMs: number): Promise<boolean> {
    try {
      this.#isHeld &&= await this.#set("XX", forMs);
      this.#isHeld ||= await this.#set("NX", forMs);
      return this.#isHeld;
    } catch {
      // Without Redis, the pace lets nothing through.
      return true;
    }
  }

  /** Gives the lease up, if this process has it. */
  async release(): Promise<void> {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    await this.#link.ask((redis) => redis.del(this.#key)).catch(() => undefined);
  }

  async #set(how: "NX" | "XX", forMs: number): Promise<boolean> {
    const answer = await this.#link.ask((redis) =>
      how === "NX"
        ? redis.set(this.#key, "1", "PX", forMs, "NX")
        : redis.set(this.#key, "1", "PX", forMs, "XX"),
    );
    return answer !== null;
  }
}
