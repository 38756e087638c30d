import { z } from "zod";
import { UsageError } from "../errors.js";
import { type Manifest, manifestSchema, outputSchema } from "./manifest.js";

/** A manifest that may be another program's: any member may be missing. */
export type FoundManifest = Partial<Omit<Manifest, "output">> & {
  readonly output?: Partial<Manifest["output"]>;
};

/** Members that are not as in the schema count as missing. */
function lenient(shape: Readonly<Record<string, z.ZodType>>) {
  const maybe = (member: z.ZodType) => member.optional().catch(undefined);
  const members = Object.entries(shape).map(([name, member]) => [name, maybe(member)]);
  return z.object(Object.fromEntries(members) as Record<string, z.ZodType>);
}

const found = lenient({
  ...manifestSchema.shape,
  output: lenient({ ...outputSchema.shape, parts: z.array(z.looseObject({ name: z.string() })) }),
});

/**
 * Reads a manifest.
 *
 * @param value parsed JSON; null for none
 * @throws UsageError `manifest_unreadable` if it is no object
 */
export function parseManifest(value: unknown, path: string): FoundManifest | null {
  if (value === null) return null;
  const { data } = found.safeParse(value);
  if (data !== undefined) return data;
  throw new UsageError("manifest_unreadable", `${path} is not a manifest`, {
    hint: "restore it from a copy",
  });
}
