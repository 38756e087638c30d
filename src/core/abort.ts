import type { Clock } from "./clock.js";
import { ShortLivedMap } from "./short-lived-map.js";

/**
 * Resolves with the promise's value unless the signal aborts first. Opening an input or output may
 * block until a pipe's first bytes or a server's answer arrive.
 *
 * @param closeLate closes a value that arrives after the abort
 * @param aborts shared by those who may race against one signal at the same time
 * @throws the signal's reason, or the promise's own error
 */
export function raceAbort<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  closeLate: (value: T) => unknown = () => undefined,
  aborts = new AbortGroups(),
): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (reason: unknown): void => {
      reject(reason);
      promise.then(closeLate).catch(() => undefined);
    };
    if (signal.aborted) return abort(signal.reason);
    promise.then(resolve, reject).finally(aborts.join(signal, { abort }));
  });
}

/**
 * Passes values on.
 *
 * @throws the signal's reason once it aborts, even if the next value never comes
 */
export async function* abortable<T>(
  values: AsyncIterable<T>,
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<T, void, undefined> {
  const iterator = values[Symbol.asyncIterator]();
  const aborts = new AbortGroups();
  try {
    for (;;) {
      const next = await raceAbort(iterator.next(), signal, undefined, aborts);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    const closed = Promise.resolve(iterator.return?.());
    // It waits for the value that may never come.
    if (signal.aborted) closed.catch(() => undefined);
    else await closed;
  }
}

export interface Abortable {
  abort(reason: unknown): void;
}

export type Leave = () => void;

interface Group {
  readonly members: ShortLivedMap<number, Abortable>;
  readonly onAbort: () => void;
}

/**
 * Aborts all members of a group when their signal aborts. Uses one listener per signal, since a run
 * has one signal and thousands of requests.
 */
export class AbortGroups {
  readonly #groups = new WeakMap<AbortSignal, Group>();
  #lastId = 0;

  join(signal: AbortSignal, member: Abortable): Leave {
    const { members, onAbort } = this.#groupOf(signal);
    if (members.size === 0) signal.addEventListener("abort", onAbort);
    const id = ++this.#lastId;
    members.set(id, member);
    return () => {
      members.take(id);
      if (members.size === 0) signal.removeEventListener("abort", onAbort);
    };
  }

  #groupOf(signal: AbortSignal): Group {
    let group = this.#groups.get(signal);
    if (group === undefined) {
      const members = new ShortLivedMap<number, Abortable>();
      const onAbort = (): void => {
        for (const id of members.keys()) members.get(id)?.abort(signal.reason);
      };
      group = { members, onAbort };
      this.#groups.set(signal, group);
    }
    return group;
  }
}

/** Sleeps that reject with the signal's reason if it aborts first, with one listener per signal. */
export function abortableSleep(clock: Clock): (ms: number, signal: AbortSignal) => Promise<void> {
  const aborts = new AbortGroups();
  return async (ms, signal) => {
    signal.throwIfAborted();
    const own = new AbortController();
    const leave = aborts.join(signal, own);
    await clock.sleep(ms, own.signal).finally(leave);
  };
}
