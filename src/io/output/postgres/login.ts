import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Client } from "pg";

/**
 * Finds a password in `PGPASSFILE` or `~/.pgpass`: that of the first line whose
 * `host:port:database:user` matches, with `*` as wildcard (PostgreSQL manual, libpq, The Password
 * File). Undefined if there is none.
 * @param onWarning called if the file is ignored because others may read it, like in libpq
 */
export async function readPasswordFile(
  entry: Pick<Client, "host" | "port" | "database" | "user">,
  environment: NodeJS.ProcessEnv,
  onWarning: (message: string) => void,
): Promise<string | undefined> {
  const path = environment["PGPASSFILE"] || join(environment["HOME"] || homedir(), ".pgpass");
  const facts = await stat(path).catch(() => null);
  if (!facts?.isFile()) return undefined;
  if (process.platform !== "win32" && (facts.mode & 0o077) !== 0) {
    onWarning(`ignored ${path} because other users can read it; run chmod 600 ${path}`);
    return undefined;
  }
  const text = await readFile(path, "utf8").catch(() => "");
  const { host, port, database = "", user = "" } = entry;
  // A Unix socket also matches `localhost`.
  const hosts = host.startsWith("/") ? [host, "localhost"] : [host];
  const patterns = [hosts, [String(port)], [database], [user]].map((names) => ["*"].concat(names));
  for (const line of text.split(/\r?\n/)) {
    const fields = fieldsOf(line);
    if (patterns.every((names, at) => names.includes(fields[at] ?? ""))) return fields[4];
  }
  return undefined;
}

/** The five fields of a line, unescaped; none if it isn't a valid entry. */
function fieldsOf(line: string): readonly string[] {
  const fields =
    /^(?!#)((?:\\.|[^\\:])*):((?:\\.|[^\\:])*):((?:\\.|[^\\:])*):((?:\\.|[^\\:])*):(.*)$/.exec(
      line,
    );
  return fields?.slice(1).map((field) => field.replaceAll(/\\(.)/g, "$1")) ?? [];
}
