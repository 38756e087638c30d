/** Bounds that keep an input's mess from becoming the machine's. */
export const limits = {
  /** Longest record (line, or CSV record over several lines) in bytes. */
  recordBytes: 16 * 1024 * 1024,
  /** Most rows of a batch. */
  batchRows: 512,
  /** Bytes looked at to see what an input is. */
  headBytes: 64 * 1024,
  /** NDJSON: lines without an object that are put up with before the first object. */
  linesBeforeObject: 10_000,
  /** NDJSON: objects that are searched for the item's path. */
  objectsSearched: 100,
} as const;
