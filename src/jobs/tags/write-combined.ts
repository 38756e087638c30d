import { join } from "node:path";
import { FatalError } from "../../core/errors.js";
import { AddressPages, readAddresses, sizeOf } from "./address-list.js";
import { setNames } from "./firewalls.js";
import { type ExportedTag, type ExportIndex, storedListName } from "./folder/export-index.js";
import type { ExportTagsOptions } from "./types.js";
import { writeFormats } from "./write-tag.js";

/**
 * Writes the lists of tags together, without duplicates, in every format of the export.
 *
 * @param into the generation under construction, which has the list of each tag
 * @throws FatalError
 */
export async function writeCombined(
  name: string,
  tags: readonly ExportedTag[],
  into: string,
  { formats = ["txt"] }: ExportTagsOptions,
): Promise<NonNullable<ExportIndex["combined"]>> {
  const pages = new AddressPages();
  for (const tag of tags) {
    const list = await readAddresses(join(into, storedListName(tag.stem)), tag.total);
    if (list === null) {
      const message = `cannot combine the lists: that of tag ${tag.name} cannot be read`;
      throw new FatalError("list_unreadable", message, { hint: "export the tag again" });
    }
    pages.add(list);
  }
  const list = pages.list();
  const sets = setNames(name, name);
  const metadata = { tag: name, sets };
  const files = await writeFormats(join(into, name), list, metadata, formats);
  return { name, total: sizeOf(list), sets, files };
}
