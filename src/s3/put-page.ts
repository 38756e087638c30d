import { putObject } from "./put-object.js";

/** Writes an HTML page as an object. @throws ReputeError */
export async function putPage(address: string, html: string): Promise<void> {
  await putObject(address, html, { contentType: "text/html; charset=utf-8" });
}
