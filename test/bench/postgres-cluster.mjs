import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { chown } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import pg from "pg";

/**
 * A server on a free port with default fsync; null if PostgreSQL is not installed.
 *
 * @param folder an existing folder for its data; given to the user that runs it
 */
export async function startPostgres(folder) {
  const root = "/usr/lib/postgresql";
  const version = existsSync(root) ? readdirSync(root).sort((a, b) => b - a)[0] : undefined;
  if (version === undefined) return null;
  const bin = join(root, version, "bin");
  const data = join(folder, "cluster");
  // It refuses to run as root.
  const as = process.getuid() === 0 ? userOf("postgres") : {};
  if (as.uid !== undefined) await chown(folder, as.uid, as.gid);
  const options = ["--auth=trust", "--encoding=UTF8", "--no-locale", "--username=postgres"];
  const made = spawnSync(join(bin, "initdb"), ["-D", data, ...options], {
    ...as,
    cwd: folder,
    encoding: "utf8",
  });
  if (made.status !== 0) throw new Error(made.stderr);
  const port = await freePort();
  const server = spawn(
    join(bin, "postgres"),
    ["-D", data, "-p", port, "-h", "127.0.0.1", "-c", "unix_socket_directories="],
    { ...as, cwd: folder, stdio: "ignore" },
  );
  const ended = new Promise((over) => server.once("close", over));
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    const there = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end().catch(() => undefined);
    if (there) return { server, ended, url };
    await new Promise((later) => setTimeout(later, 100));
  }
}

function userOf(name) {
  const id = (flag) => Number(spawnSync("id", [flag, name], { encoding: "utf8" }).stdout);
  return { uid: id("-u"), gid: id("-g") };
}

async function freePort() {
  const server = createServer();
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return String(port);
}
