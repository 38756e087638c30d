import { probedScript, probeScript } from "./pace-scripts.js";
import { servicePrefix } from "./pace-server.js";
import type { ScriptServer } from "./redis-link.js";

/** Lets one process at a time probe a service that doesn't answer, for all that share a pace. */
export class RedisProbes {
  readonly #server: ScriptServer;
  readonly #key: string;
  readonly #id: string;
  /** When a probe was last answered, as known at the begin of an outage. */
  #answeredBefore: string | null = null;

  constructor(server: ScriptServer, caller: { readonly id: string; readonly service: string }) {
    this.#server = server;
    this.#id = caller.id;
    this.#key = `${servicePrefix(caller.service)}probes`;
  }

  /**
   * Whether this process may probe: it is the one that does, or another's probe was answered.
   *
   * @param forMs how long no other process takes over, if this one dies
   */
  async may(forMs: number): Promise<boolean> {
    try {
      const reply = await this.#server.run(probeScript, [this.#key], ["", this.#id, forMs]);
      const [, mine, answered] = reply as [string, number, string];
      this.#answeredBefore ??= answered;
      return mine === 1 || Number(answered) > Number(this.#answeredBefore);
    } catch {
      // Without the server, the pace lets nothing through.
      return true;
    }
  }

  /** Reports the end of an outage. */
  answered(): void {
    this.#answeredBefore = null;
    void this.#server.run(probedScript, [this.#key], ["", this.#id, 1]).catch(() => undefined);
  }
}
