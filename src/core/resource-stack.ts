import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Closes resources, newest first. Stands in for AsyncDisposableStack, which Node.js 20 lacks. */
export class ResourceStack {
  readonly #closers: (() => unknown)[] = [];

  use<T extends { close(): Promise<void> }>(resource: T): T {
    this.defer(() => resource.close());
    return resource;
  }

  defer(close: () => unknown): void {
    this.#closers.push(close);
  }

  /**
   * Closes everything, even if some closers fail.
   *
   * @throws the first failure
   */
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

/** Parts that are opened when they are first needed, and closed together. */
export class Parts extends ResourceStack {
  readonly #parts = new Map<string, Promise<unknown>>();

  /** The part of this name. One that failed to open is tried again with the next call. */
  open<T>(name: string, open: () => Promise<T>): Promise<T> {
    const known = this.#parts.get(name) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const opening = open();
    this.#parts.set(name, opening);
    opening.catch(() => this.#parts.delete(name));
    return opening;
  }

  /** Waits for parts that are being opened, then closes all. */
  override async close(): Promise<void> {
    await Promise.allSettled(this.#parts.values());
    await super.close();
  }
}

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

/** Creates a temporary folder, which is removed when it is disposed of. */
export async function temporaryFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "repute-"));
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}
