import type { Clock } from "../../core/clock.js";

export interface QueueAddress {
  /** `redis://HOST[:PORT]/DB`. */
  readonly address: string;
  /** Its `REDISCLI_AUTH` is the password if the address has none. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly baseUrl: string;
}

export interface QueueWatchOptions {
  readonly baseUrl: string;
  /** How long to wait for workers and for Redis, in milliseconds. */
  readonly patienceMs: number;
  readonly clock: Clock;
  readonly onWarning: (message: string) => void;
}
