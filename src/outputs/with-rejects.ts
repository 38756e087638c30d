import type { FindingStatus } from "../core/finding.js";
import type { Sink, SinkPosition } from "./types.js";

/** Rows that came to nothing that could be used. */
const rejected: ReadonlySet<FindingStatus> = new Set(["invalid", "unsupported", "failed"]);

/** Writes every row to `sink`, and those that did not become complete or partial to `rejects` too. */
export function withRejects(sink: Sink, rejects: Sink): Sink {
  return {
    async write(rows) {
      await sink.write(rows);
      const refused = rows.filter(({ finding }) => rejected.has(finding.status));
      if (refused.length > 0) await rejects.write(refused);
    },
    async checkpoint(note) {
      const apart = await rejects.checkpoint();
      const both = (position: SinkPosition): SinkPosition => ({ ...position, rejects: apart });
      return both(await sink.checkpoint(note && ((position) => note(both(position)))));
    },
    get full() {
      return sink.full ?? false;
    },
    async end() {
      await rejects.end?.();
      await sink.end?.();
    },
    async finish(suffix) {
      await rejects.finish(suffix);
      return sink.finish(suffix);
    },
    async abandon() {
      await rejects.abandon();
      await sink.abandon();
    },
  };
}
