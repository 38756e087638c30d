/** A folder of `src`. */
export interface Layer {
  readonly content: string;
  /** Folders that it may import besides itself. */
  readonly mayImport: readonly string[];
}

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
  objects: { content: "object storage: addresses, ranged reads, uploads", mayImport: ["core"] },
  inputs: {
    content: "where bytes come from: files, stdin, streams, objects",
    mayImport: ["core", "formats", "objects"],
  },
  outputs: {
    content: "where rows go: files, Parquet, databases",
    mayImport: ["core", "formats", "objects"],
  },
  lookup: {
    content: "a lookup and its wrappers: dedupe, cache, retry, pace",
    mayImport: ["core", "api", "store"],
  },
  tags: {
    content: "export of tag lists",
    mayImport: ["core", "api", "lookup", "formats", "objects"],
  },
  webhooks: {
    content: "configuration, rendering, sending",
    mayImport: ["core", "api", "lookup", "formats"],
  },
  report: {
    content: "report, diff, history",
    mayImport: ["core", "api", "formats", "store", "lookup"],
  },
  service: { content: "the embedded service", mayImport: ["core", "api"] },
  pipeline: {
    content: "runs: rows, state, audit, manifest, retry, plan",
    mayImport: [
      "core",
      "api",
      "formats",
      "store",
      "inputs",
      "outputs",
      "objects",
      "lookup",
      "tags",
      "webhooks",
    ],
  },
};
