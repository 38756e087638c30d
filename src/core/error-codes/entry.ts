/**
 * What is known about a code: what it means, what the user can do, and how repute retries before it
 * reports the code. Without the third, it doesn't retry.
 */
export type CodeEntry = readonly [meaning: string, remedy: string, retried?: string];

export type CodeEntries = Readonly<Record<string, CodeEntry>>;
