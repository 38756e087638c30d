import type { LookupRecord } from "../core/attempt.js";
import type { Finding } from "../core/finding.js";

/**
 * Keeps what lookups brought, for as long as the run lasts or longer. Keys are texts that name an
 * endpoint and an item exactly; two lookups with the same key have the same answer.
 */
export interface Store<Value> {
  /**
   * The value kept under `key`, or null. A store in this process answers without a promise where it
   * can, which keeps the hot path free of them.
   */
  get(key: string): Value | null | Promise<Value | null>;
  /**
   * Keeps a value. Resolves when the end of the process, by whatever signal, cannot lose it.
   *
   * @throws FatalError when it cannot be kept (disk full, folder gone): the run cannot go on
   */
  put(key: string, value: Value): Promise<void>;
  /** Resolves when a loss of power cannot lose what was put before. */
  sync(): Promise<void>;
  /** Bytes of the store's file that the latest `sync` made durable, where it has one file that grows. */
  readonly durableBytes?: number;
  /** Lets go of the store's files. What was put stays. */
  close(): Promise<void>;
}

/** Findings that outlive a run: a cache. */
export type FindingStore = Store<Finding>;

/** The lookups of one run: its journal, or a store in memory. */
export type LookupStore = Store<LookupRecord>;
