/** A folder of `src`. */
export interface Layer {
  readonly content: string;
  /** Folders that it may import besides itself. */
  readonly mayImport: readonly string[];
}

/** What a run and a retry are made of. */
const belowRuns = [
  "core",
  "api",
  "store",
  "formats",
  "s3",
  "inputs",
  "outputs",
  "lookup",
  "session",
] as const;

/** The layers; docs/architecture.md shows them. `index.ts`, `library` and `cli` may import everything. */
export const layers: Readonly<Record<string, Layer>> = {
  core: { content: "item, finding, row, columns, options, errors, clock", mayImport: [] },
  api: {
    content: "schemas of the interface, one table of endpoints, transport, one client per address",
    mayImport: ["core"],
  },
  store: { content: "journal, cache, quotas", mayImport: ["core"] },
  formats: {
    content: "one contract, one file or folder per format, one registry",
    mayImport: ["core"],
  },
  s3: { content: "object storage: addresses, ranged reads, uploads", mayImport: ["core"] },
  inputs: {
    content: "where bytes come from: files, stdin, streams, objects",
    mayImport: ["core", "formats", "s3"],
  },
  extract: {
    content: "the items in any text",
    mayImport: ["core", "formats", "inputs"],
  },
  outputs: {
    content: "where rows go: files, Parquet, databases",
    mayImport: ["core", "formats", "s3"],
  },
  lookup: {
    content: "a lookup and its wrappers: dedupe, cache, retry, pace",
    mayImport: ["core", "api", "store"],
  },
  tags: {
    content: "export of tag lists",
    mayImport: ["core", "api", "lookup", "formats", "s3"],
  },
  webhooks: {
    content: "configuration, rendering, sending",
    mayImport: ["core", "api", "lookup", "formats"],
  },
  report: {
    content: "report, diff",
    mayImport: ["core", "api", "formats", "store", "lookup"],
  },
  service: { content: "the embedded service", mayImport: ["core", "api"] },
  workers: {
    content: "requests that other machines make: queue, worker",
    mayImport: ["core", "api"],
  },
  session: {
    content: "everything that belongs to one service: connections, pace, quotas, cache, clients",
    mayImport: ["core", "api", "store", "lookup", "workers"],
  },
  run: {
    content: "a run: rows, lookup, output, state, manifest; its plan",
    mayImport: [...belowRuns, "extract"],
  },
  earlier: {
    content: "outputs that are read again: rows, records, verification against the manifest",
    mayImport: [...belowRuns, "run"],
  },
  retry: { content: "failed and partial rows again", mayImport: [...belowRuns, "run", "earlier"] },
};
