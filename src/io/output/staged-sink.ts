import { openFileDestination } from "./file-destination.js";
import { type Stage, stagePath, stageUpTo } from "./stage.js";
import { textSink } from "./text/text-sink.js";
import type { Manifest } from "../../core/manifest.js";
import type { Sink, SinkPosition, WrittenOutput } from "./types.js";
import type { Publication } from "./publication.js";

/** A sink whose rows wait in the state folder until the run ends. */
export interface StagedSink extends Sink, Pick<Publication, "earlierRows" | "holds"> {
  /** Makes what is going to appear. No row can be written afterwards. */
  prepare(suffix: string): Promise<WrittenOutput | null>;
  /** Publishes the rows so far, where the output takes parts of a run. */
  publishSoFar(manifest?: Manifest): Promise<void>;
}

/** Opens the stage of a run, truncated to the checkpoint when resuming. */
export async function openStage(
  publication: Publication,
  stateFolder: string,
  startAt: SinkPosition | null,
): Promise<StagedSink> {
  const file = await openFileDestination(stagePath(stateFolder), startAt);
  const resumeRows = startAt?.rows ?? null;
  const sink = textSink(publication.encoder, file, { gzip: false, resumeRows });
  const soFar = async (): Promise<Stage> => stageUpTo(stateFolder, await sink.checkpoint());
  return {
    earlierRows: publication.earlierRows,
    holds: publication.holds,
    write: (rows) => sink.write(rows),
    checkpoint: () => sink.checkpoint(),
    prepare: async (suffix) => publication.prepare(await soFar(), suffix),
    async publishSoFar(manifest) {
      if (publication.takesParts) await publication.commit(await soFar(), "", manifest);
    },
    async finish(suffix = "", manifest = null) {
      await publication.commit(await soFar(), suffix, manifest);
      await file.abandon();
    },
    abandon: () => sink.abandon(),
  };
}
