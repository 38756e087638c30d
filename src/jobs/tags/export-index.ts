import { z } from "zod";

/** Formats of a tag's list. Each is also the extension of its file. */
export const tagFormats = ["txt", "csv", "ndjson", "cidr", "nft", "ipset"] as const;

export const indexSchemaVersion = 1;

/** A file name. The index may have been edited, so paths are rejected. */
const fileName = z.string().regex(/^[A-Za-z0-9%_][A-Za-z0-9._%-]*$/);

const generation = z.string().regex(/^generations\/[A-Za-z0-9-]+$/);

const count = z.number().int().nonnegative();

const failure = z.object({ code: z.string(), message: z.string() });

const exportedFile = z.object({
  /** `added` and `removed`: differences from the previous list, as text. */
  format: z.enum([...tagFormats, "added", "removed"]),
  /** Name in the generation's folder and in the export's folder. */
  file: fileName,
  bytes: count,
  sha256: z.string(),
});

/** Names of the sets in the firewall formats; each holds one family. */
const sets = z.object({ ipv4: z.string(), ipv6: z.string() });

const exportedTag = z.object({
  name: z.string(),
  /**
   * Result for the tag: `exported`; `unchanged`, with the same addresses as before; `failed`, so
   * its earlier list stays; `kept`, because it was not requested and its earlier list stays.
   */
  status: z.enum(["exported", "unchanged", "failed", "kept"]),
  error: failure.nullable(),
  description: z.string().nullable(),
  intent: z.string().nullable(),
  category: z.string().nullable(),
  snapshot: z.string(),
  /** When the list was read (its snapshot was pinned), RFC 3339 UTC. */
  exported_at: z.string(),
  /** As received from the service. */
  lastUpdate: z.string(),
  /** Addresses in the list. The service's own total also has those that are left out. */
  total: count,
  /** What is not in the list, and why: addresses in reserved ranges, and those on exclusion lists. */
  left_out: z.object({
    reserved: count.nullable(),
    excluded: z.array(z.object({ path: z.string(), sha256: z.string(), addresses: count })),
  }),
  /** Digest of the list as text, one address per line: that of the `.txt` file, if written. */
  sha256: z.string(),
  /** Since the previous export; a first one adds all. */
  added: count,
  removed: count,
  /** Prefix of the tag's file names. */
  stem: fileName,
  sets,
  files: z.array(exportedFile),
});

/** All lists of an export together, without duplicates (`--combine`). */
const combinedList = z.object({
  name: fileName,
  total: count,
  sets,
  files: z.array(exportedFile),
});

export const exportIndexSchema = z.object({
  schema: z.literal(indexSchemaVersion),
  /** When the export was published, RFC 3339 UTC. */
  exported_at: z.string(),
  /** Run that the export belongs to; absent for `tags export`. */
  run_id: z.string().optional(),
  /** Path of the generation within the export's folder. Its contents never change. */
  generation,
  /** The previous generation, which may have been removed. */
  previous_generation: generation.nullable(),
  combined: combinedList.optional(),
  /** Sorted by name. */
  tags: z.array(
    z.union([
      exportedTag,
      // One that failed and has no earlier list.
      z.object({ name: z.string(), status: z.literal("failed"), error: failure }),
    ]),
  ),
});

export type ExportIndex = z.output<typeof exportIndexSchema>;
export type ExportedTag = z.output<typeof exportedTag>;
type IndexedTag = ExportIndex["tags"][number];

export function hasList(tag: IndexedTag): tag is ExportedTag {
  return "snapshot" in tag;
}

export function exportedTags(index: ExportIndex | null): ExportedTag[] {
  return index?.tags.filter((tag) => hasList(tag)) ?? [];
}

/** Name of a tag's list as text, which a generation has whatever the formats are. */
export function listName(stem: string): string {
  return `${stem}.txt`;
}

/** Every file of a tag ends in one of these. */
export const fileEndings = [...tagFormats, "added.txt", "removed.txt"] as const;
