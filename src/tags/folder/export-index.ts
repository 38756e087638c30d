import { z } from "zod";
import { tagFormats } from "../formats/types.js";

/** Version of the form of `index.json`. */
export const indexSchemaVersion = 1;

/** A name in the folder, which may come from a file that somebody else wrote: never a path. */
const fileName = z.string().regex(/^[A-Za-z0-9%_][A-Za-z0-9._%-]*$/);

const generation = z.string().regex(/^generations\/[A-Za-z0-9-]+$/);

const count = z.number().int().nonnegative();

const failure = z.object({ code: z.string(), message: z.string() });

const exportedFile = z.object({
  /** `added` and `removed`: what the list has and lacks against the one before it, as text. */
  format: z.enum([...tagFormats, "added", "removed"]),
  /** Name in the generation's folder, and in the export's. */
  file: fileName,
  bytes: count,
  sha256: z.string(),
});

const pinned = z.object({
  snapshot: z.string(),
  /** When the list was read, that is when its snapshot was pinned; RFC 3339 UTC. */
  exported_at: z.string(),
});

const exportedTag = z.object({
  name: z.string(),
  /**
   * What this export came to for the tag: `exported`; `unchanged`, the same addresses as before;
   * `failed`, its earlier list stays; `kept`, it was not asked for and its earlier list stays.
   */
  status: z.enum(["exported", "unchanged", "failed", "kept"]),
  error: failure.nullable(),
  description: z.string().nullable(),
  intent: z.string().nullable(),
  category: z.string().nullable(),
  references: z.array(z.unknown()),
  ...pinned.shape,
  /** As the service gave it. */
  lastUpdate: z.string(),
  total: count,
  ipv4: count,
  ipv6: count,
  /** Of the list as text, one address a line: that of the `.txt` file where it is written. */
  sha256: z.string(),
  /** What the counts below are against; null for a first export, for which everything is added. */
  previous: pinned.nullable(),
  added: count,
  removed: count,
  unchanged: count,
  /** What the names of the tag's files begin with. */
  stem: fileName,
  /** Names of the sets in the firewall formats. */
  sets: z.object({ ipv4: z.string(), ipv6: z.string() }),
  files: z.array(exportedFile),
});

/** A tag that failed and was never exported before. */
const missingTag = z.object({
  name: z.string(),
  status: z.literal("failed"),
  error: failure,
});

export const exportIndexSchema = z.object({
  schema: z.literal(indexSchemaVersion),
  /** When the folder came to this; RFC 3339 UTC. */
  exported_at: z.string(),
  /** Run of the main job that the export belongs to; absent for one of its own. */
  run_id: z.string().optional(),
  /** Folder of the files, from the export's folder; what it holds never changes. */
  generation,
  /** The generation before, which may be gone. */
  previous_generation: generation.nullable(),
  /** By name. */
  tags: z.array(z.union([exportedTag, missingTag])),
});

export type ExportIndex = z.output<typeof exportIndexSchema>;
export type ExportedFile = z.output<typeof exportedFile>;
export type ExportedTag = z.output<typeof exportedTag>;
export type IndexedTag = ExportIndex["tags"][number];
export type Failure = z.output<typeof failure>;

/** Whether a tag's list is in the folder. */
export function hasList(tag: IndexedTag): tag is ExportedTag {
  return "snapshot" in tag;
}

/** The tags of an index whose list is in the folder. */
export function exportedTags(index: ExportIndex | null): ExportedTag[] {
  return index?.tags.filter((tag) => hasList(tag)) ?? [];
}
