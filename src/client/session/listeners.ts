import type { EarlyEndError } from "../../core/errors.js";
import type { SessionListener, SessionOptions } from "./types.js";

/** All who hear what happens in a session. */
export class Listeners {
  readonly #uses = new Set<SessionListener>();
  readonly #owner: Pick<SessionOptions, "onWarning" | "onEarlyEnd">;
  /** Aborts when a quota is used up: calls that wait for it end. */
  #usedUp = new AbortController();

  constructor(owner: Pick<SessionOptions, "onWarning" | "onEarlyEnd">) {
    this.#owner = owner;
  }

  add(use: SessionListener): void {
    this.#uses.add(use);
  }

  delete(use: SessionListener): void {
    this.#uses.delete(use);
  }

  /** Aborts when a quota is used up next. */
  get usedUp(): AbortSignal {
    return this.#usedUp.signal;
  }

  readonly warn = (message: string): void => {
    for (const { onWarning } of this.#uses) onWarning?.(message);
    this.#owner.onWarning(message);
  };

  readonly end = (error: EarlyEndError): void => {
    for (const { onEarlyEnd } of this.#uses) onEarlyEnd?.(error);
    this.#usedUp.abort(error);
    this.#usedUp = new AbortController();
    this.#owner.onEarlyEnd?.(error);
  };
}
