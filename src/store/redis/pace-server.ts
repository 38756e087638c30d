import { createHash } from "node:crypto";
import { priorities, type Priority } from "./redis-address.js";
import { publishScript, takeScript } from "./pace-scripts.js";
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
  /** Version of the learned state that the caller has. */
  readonly version: string;
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
  readonly version: string;
  /** Nothing may start before. */
  readonly hold: number;
  /** The learned state, if it has another version than the caller's; "" if there is none. */
  readonly learned: string;
  /** True if the server knew nothing of this pace: it is new, or the server has lost its data. */
  readonly isNew: boolean;
}

export interface LearnedUpdate {
  readonly version: string;
  readonly learned: string;
  readonly ticket: number;
  readonly hold: number;
  readonly probing: boolean;
}

/** Result of publishing; if it was refused, `learned` is the state that others have published. */
export interface Published {
  readonly now: number;
  readonly accepted: boolean;
  readonly version: string;
  readonly learned: string;
}

/** A caller, and the limit that it obeys. */
export interface PaceCaller {
  readonly id: string;
  /** Address of the service. */
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
    const { windows, want, lead, credit, version } = request;
    const args: ScriptValue[] = [
      "",
      id,
      priorities.indexOf(priority),
      want,
      Math.round(lead),
      credit,
      version,
    ];
    for (const { name, interval, backlog, fast } of windows) {
      args.push(name, ...[interval, backlog, fast].map((us) => Math.round(us * 1000) / 1000));
    }
    const reply = (await this.#server.run(takeScript, this.#keys, args)) as string[];
    const [now, slots, at, spacing, ticket] = reply.map(Number) as [
      number,
      number,
      number,
      number,
      number,
    ];
    const [, , , , , newVersion = "0", hold = "0", learned = "", isNew] = reply;
    return {
      now,
      slots,
      at,
      spacing,
      ticket,
      version: newVersion,
      hold: Number(hold),
      learned,
      isNew: Number(isNew) === 1,
    };
  }

  /** Rejects if the server does not answer. */
  async publish(publication: LearnedUpdate): Promise<Published> {
    const { version, learned, ticket, hold, probing } = publication;
    const args = ["", version, learned, ticket, Math.round(hold), probing ? 1 : 0];
    const [key = ""] = this.#keys;
    const reply = (await this.#server.run(publishScript, [key], args)) as string[];
    const [now, accepted, newVersion = "0", found = ""] = reply;
    return {
      now: Number(now),
      accepted: Number(accepted) === 1,
      version: newVersion,
      learned: found,
    };
  }
}

/**
 * Begin of the keys of a service. Its address may have a name that others should not read, so they have
 * a hash of it; the braces keep them together in one slot.
 */
export function servicePrefix(service: string): string {
  const hash = createHash("sha256").update(normalService(service)).digest("hex").slice(0, 24);
  return `repute:{${hash}}:`;
}

/** Spellings of the same address share a pace; user name, password and query don't count. */
function normalService(service: string): string {
  if (!URL.canParse(service)) return service;
  const { origin, pathname } = new URL(service);
  return origin + pathname.replace(/\/+$/, "");
}
