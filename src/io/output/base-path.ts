import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { userStateFolder } from "../../core/files/folders.js";

/** A file name for a text. A hash keeps texts apart whose characters were replaced. */
export function fileWord(text: string): string {
  const word = text.replace(/[^A-Za-z0-9._-]+/g, "_").slice(0, 120);
  if (word === text) return word;
  return `${word}-${createHash("sha256").update(text).digest("hex").slice(0, 8)}`;
}

/**
 * The base of an output on a server: in the folder of states, else in the working folder.
 *
 * @param place names it among others
 */
export function serverBase(place: string, stateDir: string | undefined): string {
  const name = `repute-${fileWord(place)}`;
  if (stateDir !== undefined) return join(resolve(stateDir), name);
  const folder = userStateFolder(process.env);
  return folder === null ? resolve(name) : join(folder, name);
}
