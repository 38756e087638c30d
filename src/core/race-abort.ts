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
