/** Answers of the embedded service, which say nothing about the items: from its dataset, or invented. */
export type MadeUp = "sample" | "invented";

/** What to tell of such answers. */
export const madeUpText: Readonly<Record<MadeUp, readonly [name: string, meaning: string]>> = {
  sample: ["Sample data", "The embedded service's answers say nothing about real hosts"],
  invented: [
    "Invented data",
    "The service made these answers up (--synthetic); they say nothing about real hosts",
  ],
};

/**
 * Where an answer came from, the nearest to the service first: the service, what stands in for one, a
 * cache, an earlier row of the run, or repute itself.
 */
export const findingSources = [
  "live",
  "sample",
  "invented",
  "cache",
  "duplicate",
  "local",
] as const;

export type FindingSource = (typeof findingSources)[number];

/** Whose answers a table holds: those of a real service, or made-up ones. */
export type TableData = "real" | "made up";
