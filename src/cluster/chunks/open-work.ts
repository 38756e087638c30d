import { readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { isObjectAddress } from "../../s3/address.js";
import { listObjects } from "../../s3/list-objects.js";
import { putObject } from "../../s3/put-object.js";
import { isMissing, pinObject, readObject, readText } from "../../s3/read-object.js";
import { removeObject } from "../../s3/stored-object.js";
import { uploadObject } from "../../s3/upload-object.js";
import { objectFolder } from "../../outputs/object-files.js";
import { createFolder, localWork, type WorkFolder } from "./work-folder.js";

/** Opens the work folder of that name, a path or `s3://BUCKET/KEY`. @throws UsageError `bad_object_address` */
export function openWork(name: string): WorkFolder {
  return isObjectAddress(name) ? objectWork(name) : localWork(name);
}

/**
 * A work folder in object storage. Files are written to a folder in the working directory and
 * uploaded from there.
 */
function objectWork(given: string): WorkFolder {
  const work = given.replace(/\/+$/, "");
  const folder = objectFolder(work);
  const address = (name: string): string => `${work}/${name}`;
  const pathOf = (name: string): string => join(folder, name);
  const removeLocal = (name: string) => rm(pathOf(name), { recursive: true, force: true });
  const unlessMissing = <T>(reading: Promise<T>): Promise<T | null> =>
    reading.catch((error: unknown) => {
      if (isMissing(error)) return null;
      throw error;
    });
  return {
    name: work,
    isRemote: true,
    address,
    pathOf,
    list: () => listObjects(address("")),
    localNames: () => readdir(folder).catch(() => []),
    read: (name) => readText(address(name)),
    prepare: async (name = "") => createFolder(pathOf(name)),
    publish: (name, text) => publishText(address(name), text),
    async remove(name) {
      await removeLocal(name);
      await removeObject(address(name));
    },
    async keep(name, signal) {
      const journal = pathOf(`${name}.upload`);
      await uploadObject({ path: pathOf(name), address: address(name), journal, signal });
    },
    open: (name, signal) =>
      unlessMissing(pinObject(address(name)).then((object) => readObject(object, { signal }))),
    clear: removeLocal,
    async close() {
      await rmdir(folder).catch(() => undefined);
    },
  };
}

/**
 * Writes a text unless there is an object already. A write whose answer was lost is repeated, and
 * finds its own text. Stores that ignore the condition keep the last one of several texts that are
 * written at the same moment.
 */
async function publishText(address: string, text: string): Promise<boolean> {
  const isFree = (await readText(address)) === null;
  return (
    (isFree && (await putObject(address, text, { onlyNew: true }))) ||
    (await readText(address)) === text
  );
}
