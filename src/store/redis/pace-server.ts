import { createHash } from "node:crypto";
import { priorities, type Priority } from "./redis-address.js";
import { reportScript, takeScript } from "./pace-scripts.js";
import { serviceAddress } from "../cache-key.js";
import type { ScriptServer, ScriptValue } from "./redis-link.js";

/** A limit that the server spends from, in microseconds. */
export interface PaceWindow {
  readonly name: string;
  /** Interval between requests on average. */
  readonly interval: number;
  /** Maximum backlog that may be caught up with. */
  readonly backlog: number;
  /** Interval while catching up. */
  readonly fast: number;
}

export interface TakeRequest {
  readonly windows: readonly PaceWindow[];
  /** Slots wanted; 0 to only return some. */
  readonly want: number;
  /** Microseconds until the caller has the reply. */
  readonly lead: number;
  /** Unused slots of earlier grants. */
  readonly credit: number;
  /** Number of pauses that the caller knows; -1 to be told what was learned. */
  readonly ticket: number;
  /** That before the last request accepted. */
  readonly good: number;
}

/** Times are microseconds of the server. */
export interface Grant {
  readonly now: number;
  /** 0: none; call again at `at`. */
  readonly slots: number;
  /** Start of the first slot. */
  readonly at: number;
  readonly spacing: number;
  /** Number of pauses so far. */
  readonly ticket: number;
  /** Number of pauses before the last request accepted. */
  readonly good: number;
  /** Nothing may start before. */
  readonly hold: number;
  /** Time in which the rate that was found was not used up. */
  readonly idle: number;
  /** Number of slots handed out so far, less those returned. */
  readonly sent: number;
  /** What was learned, if the number of pauses is not the caller's; "" if there is nothing. */
  readonly learned: string;
}

export interface PaceReport {
  /** Number of pauses that the caller knows; -1 reports only a pause. */
  readonly ticket: number;
  /** End of a pause. */
  readonly hold: number;
  readonly learned: string;
  readonly idle: number;
}

/** A caller, and the limit that it obeys. */
export interface PaceCaller {
  readonly id: string;
  readonly service: string;
  /** All endpoints, or one. */
  readonly scope: string;
  readonly priority: Priority;
}

/** Hands out time slots from one place to every process that shares a pace. */
export class PaceServer {
  readonly #server: ScriptServer;
  readonly #caller: PaceCaller;
  readonly #keys: readonly string[];

  constructor(server: ScriptServer, caller: PaceCaller) {
    this.#server = server;
    this.#caller = caller;
    const key = `${servicePrefix(caller.service)}pace:${caller.scope}`;
    this.#keys = [key, `${key}:waiting`, `${key}:expiry`];
  }

  /** Rejects if the server does not answer. */
  async take(request: TakeRequest): Promise<Grant> {
    const { id, priority } = this.#caller;
    const { windows, want, lead, credit, ticket: known, good: accepted } = request;
    const rank = priorities.indexOf(priority);
    const args: ScriptValue[] = ["", id, rank, want, Math.round(lead), credit, known, accepted];
    for (const { name, interval, backlog, fast } of windows) {
      args.push(name, ...[interval, backlog, fast].map((us) => Math.round(us * 1000) / 1000));
    }
    const reply = (await this.#server.run(takeScript, this.#keys, args)) as string[];
    const learned = reply.pop() ?? "";
    const [
      now = 0,
      slots = 0,
      at = 0,
      spacing = 0,
      ticket = 0,
      good = 0,
      hold = 0,
      idle = 0,
      sent = 0,
    ] = reply.map(Number);
    return { now, slots, at, spacing, ticket, good, hold, idle, sent, learned };
  }

  /** True if what was learned is stored. Rejects if the server does not answer. */
  async report({ ticket, hold, learned, idle }: PaceReport): Promise<boolean> {
    const args = ["", ticket, Math.round(hold), learned, Math.round(idle)];
    const [key = ""] = this.#keys;
    return (await this.#server.run(reportScript, [key], args)) === 1;
  }
}

/**
 * Begin of the keys of a service. Its address may have a name that others should not read, so they have
 * a hash of it; the braces keep them together in one slot.
 */
export function servicePrefix(service: string): string {
  const hash = createHash("sha256").update(serviceAddress(service)).digest("hex").slice(0, 24);
  return `repute:{${hash}}:`;
}
