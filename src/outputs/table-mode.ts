/**
 * What a table does with the rows of a run: adds them, keeps the newest row per key, or holds only
 * them.
 */
export const tableModes = ["append", "merge", "replace"] as const;

export type TableMode = (typeof tableModes)[number];
