/** Closes what was opened, newest first: an AsyncDisposableStack, which Node.js 20 lacks. */
export class ResourceStack {
  readonly #closers: (() => unknown)[] = [];

  /** Adds a resource, and returns it. */
  use<T extends { close(): Promise<void> }>(resource: T): T {
    this.defer(() => resource.close());
    return resource;
  }

  /** Adds a step to take when the stack closes. */
  defer(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** Closes everything, also where closing something fails. @throws the first failure */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/** Gives `work` a stack and closes it afterwards. Where both fail, the error of `work` is thrown. */
export async function withResources<T>(work: (stack: ResourceStack) => Promise<T>): Promise<T> {
  const stack = new ResourceStack();
  let result: T;
  try {
    result = await work(stack);
  } catch (error) {
    await stack.close().catch(() => undefined);
    throw error;
  }
  await stack.close();
  return result;
}

/**
 * The value of a promise, unless the signal aborts first. Opening an input or output may wait for as
 * long as the first bytes of a pipe, or a server, take.
 *
 * @param closeLate closes a value that arrives after the abort
 * @throws the signal's reason, or the promise's own error
 */
export function raceAbort<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  closeLate: (value: T) => unknown = () => undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(signal.reason);
      promise.then(closeLate).catch(() => undefined);
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
