/** A room: a folder of `src`. */
export interface Layer {
  readonly content: string;
  /** Rooms that it imports, all of them. */
  readonly imports: readonly string[];
}

/** The rooms; docs/architecture.md shows them. */
export const layers: Readonly<Record<string, Layer>> = {
  core: {
    content: "item, finding, verdict, row, columns, manifest, errors, clock, options",
    imports: [],
  },
  client: {
    content:
      "one service: interface and transport, the chain of a lookup, pace, journal, cache and quotas, workers, session",
    imports: ["core"],
  },
  io: {
    content: "bytes and tables, both ways: formats, inputs, outputs, object storage",
    imports: ["core"],
  },
  jobs: {
    content:
      "what a user asks for: enrich, plan, retry, verify, extract, report, diff, schema, tags, webhooks",
    imports: ["client", "core", "io"],
  },
  service: { content: "the embedded service", imports: ["client", "core"] },
  cli: {
    content: "commands, terminal, running unattended",
    imports: ["client", "core", "io", "jobs", "service"],
  },
  library: {
    content: "the same for programs",
    imports: ["client", "core", "io", "jobs", "service"],
  },
};
