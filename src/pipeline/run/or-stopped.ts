/**
 * What is opened, unless the signal comes first: opening may wait for as long as it takes for the
 * first bytes of a pipe, or for a server.
 *
 * @param letGo closes what comes too late
 * @throws the signal's reason, or what opening fails with
 */
export function orStopped<T>(
  opening: Promise<T>,
  signal: AbortSignal,
  letGo: (opened: T) => Promise<void>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(signal.reason);
      opening.then(letGo).catch(() => undefined);
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    opening.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
