import { basename } from "node:path";
import { isFolder } from "../../core/files/make-folder.js";
import { isObjectPrefix } from "../../s3/address.js";
import { listFolder, placeOfFile } from "./list-folder.js";
import { openFolder } from "./open-folder.js";
import type { NamedInput, SeveralInputs, SkippedFile, SourceInput } from "../types.js";

export interface FolderSettings {
  /** Files that the run writes, which are left out. */
  readonly output?: string | undefined;
  readonly rejects?: string | undefined;
  readonly recursive?: boolean | undefined;
}

interface ListOptions extends FolderSettings {
  /** Any but hidden ones. @default those of known formats */
  readonly anyFile?: boolean;
}

/**
 * Lists files, tables, and the files in folders, sorted by path. Of a data set, the files are those
 * that its manifest names.
 *
 * @param names `-` is the stream
 * @throws as `openFolder` and `listFolder`
 */
export async function listInputs(
  names: readonly string[],
  stream: () => Extract<SourceInput, { readonly stream: unknown }>,
  { output, rejects, recursive = false, anyFile = false }: ListOptions = {},
): Promise<Required<SeveralInputs>> {
  const inputs: (readonly NamedInput[])[] = [];
  const skipped: (readonly SkippedFile[])[] = [];
  const own = [output, rejects].flatMap((path) => (path === undefined ? [] : [placeOfFile(path)]));
  for (const name of names) {
    if (name === "-") {
      inputs.push([{ name, input: stream() }]);
      continue;
    }
    const folder = await openFolder(name, recursive);
    if (folder === null) inputs.push([{ name, input: { path: name } }]);
    else {
      const found = await listFolder(name, folder, { own, anyFile, recursive });
      inputs.push(found.inputs);
      skipped.push(found.skipped);
    }
  }
  return { inputs: inputs.flat(), skipped: skipped.flat() };
}

/** Tells that `--recursive` has no effect, since no input is a folder. */
export function recursiveNotices(
  names: readonly string[],
  { recursive = false }: Pick<FolderSettings, "recursive">,
): readonly string[] {
  if (!recursive || names.some((name) => isFolder(name) || isObjectPrefix(name))) return [];
  const objects = names.some((name) => /^s3:/i.test(name)) ? " (s3:// folders end in /)" : "";
  return [`--recursive has no effect: no input is a folder${objects}`];
}

const mostNamed = 5;

/** Tells which files of folders are not read: one line per folder and reason. */
export function skippedNotices(skipped: readonly SkippedFile[]): readonly string[] {
  const groups = new Map<string, string[]>();
  for (const { folder, path, reason } of skipped) {
    const where = `${folder}: ${reason}`;
    const within = `${folder.replace(/\/+$/, "")}/`;
    const name = path.startsWith(within) ? path.slice(within.length) : basename(path);
    const names = groups.get(where);
    if (names === undefined) groups.set(where, [name]);
    else names.push(name);
  }
  return Array.from(groups, ([where, names]) => {
    const named = names.slice(0, mostNamed).join(", ");
    const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : "";
    return `skipping ${named}${more} in ${where}`;
  });
}
