import { openFileDestination } from "../../outputs/file-destination.js";
import { detectSinkFormat, formats } from "../../formats/registry.js";
import type { RejectsOptions } from "../../formats/types.js";
import { textSink } from "../../outputs/text-sink.js";
import type { Sink, SinkPosition } from "../../outputs/types.js";
import { withRejects } from "../../outputs/with-rejects.js";
import { finalPath } from "./paths.js";

/** File for rejected rows and the form that they came in. */
export type RejectsFile = RejectsOptions & { readonly path: string };

/**
 * Adds the file of rejected rows to a run's sink, cut back to a checkpoint where there is one.
 *
 * @param resume where the interrupted run got to, or null
 * @throws FatalError `output_*`; the sink is abandoned then
 */
export async function addRejects(
  sink: Sink,
  rejects: RejectsFile | null,
  resume: SinkPosition | null,
): Promise<Sink> {
  if (rejects === null) return sink;
  try {
    const apart = resume?.rejects ?? null;
    const file = await openFileDestination(await finalPath(rejects.path), apart);
    const rejectsSink = textSink(formats[rejects.reading.format].rejects(rejects), file, {
      gzip: detectSinkFormat(rejects.path).gzip,
      resumeRows: apart?.rows ?? null,
    });
    return withRejects(sink, rejectsSink);
  } catch (error) {
    await sink.abandon();
    throw error;
  }
}
