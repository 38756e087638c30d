import type { Finding } from "../core/finding.js";

/**
 * Keeps what lookups came to, for as long as the run lasts or longer. Keys are texts that name an
 * endpoint and an item exactly; two lookups with the same key have the same answer.
 */
export interface FindingStore {
  /**
   * The finding kept under `key`, or null. A promise only in the short moments in which the store
   * cannot read; most calls are answered at once, so that the hot path has no promise.
   */
  get(key: string): Finding | null | Promise<Finding | null>;
  /**
   * Keeps a finding. Resolves when the end of the process, by whatever signal, cannot lose it.
   *
   * @throws FatalError when it cannot be kept (disk full, folder gone): the run cannot go on
   */
  put(key: string, finding: Finding): Promise<void>;
  /** Resolves when a loss of power cannot lose what was put before. */
  sync(): Promise<void>;
  /** Bytes of the store's file that the latest `sync` made durable, where it has one file that grows. */
  readonly durableBytes?: number;
  /** Lets go of the store's files. What was put stays. */
  close(): Promise<void>;
}
