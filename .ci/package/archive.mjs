// @ts-check
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

/** The date that `npm pack` gives to every file. */
const mtime = "1985-10-26T08:15:00Z";

/**
 * Packs a folder as `.tar.gz` with GNU tar: the same content gives the same bytes.
 * @param {string} parent
 * @param {string} name folder in `parent`
 * @param {string} file
 * @returns {Promise<string>} the archive's SHA256
 */
export async function pack(parent, name, file) {
  const same = ["--sort=name", `--mtime=${mtime}`, "--owner=0", "--group=0", "--numeric-owner"];
  const options = [...same, "--mode=u=rwX,go=rX", "--format=gnu", "-C", parent];
  const tar = spawn("tar", ["-cf", "-", ...options, name], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(tar, "close");
  const hash = createHash("sha256");
  const gzip = createGzip();
  gzip.on("data", (chunk) => hash.update(chunk));
  await pipeline(tar.stdout, gzip, createWriteStream(file));
  const [code] = await ended;
  if (code !== 0) throw new Error(`tar ended with ${code}; it has to be GNU tar`);
  return hash.digest("hex");
}
