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
  /** NDJSON: objects that are searched for a path that a flag names. */
  objectsSearched: 100,
  /** Records whose cells are looked at to find the item column. */
  sampleRecords: 200,
  /** Content lines looked at to see what an input is. */
  sampleLines: 20,
  /**
   * A stream that brings nothing for so long, or has been sampled for so long (in milliseconds), is
   * judged by what it brought, if that is enough.
   */
  pauseMs: 1000,
  sampleMs: 5000,
} as const;
