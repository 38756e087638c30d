import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Client } from "pg";

/**
 * Adds the password from the password file to the address if neither the address nor the
 * environment has one.
 * @param onWarning called if the password file has unsafe permissions
 */
export async function loginAddress(
  PgClient: typeof Client,
  url: string,
  onWarning: (message: string) => void,
): Promise<string> {
  const address = new URL(url);
  // Makes sslmode mean the same as in psql; pg is stricter by default and prints a warning.
  if (address.searchParams.has("sslmode")) address.searchParams.set("uselibpqcompat", "true");
  // A client that never connects merges the address with the environment.
  const client = new PgClient({ connectionString: address.href });
  if (!client.password) {
    const { host, port, database = "", user = "" } = client;
    const found = await readPasswordFile({ host, port, database, user }, process.env, onWarning);
    if (found !== null) address.searchParams.set("password", found);
  }
  return address.href;
}

interface PasswordFor {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/**
 * Finds a password in `PGPASSFILE` or `~/.pgpass`: that of the first line whose
 * `host:port:database:user` matches, with `*` as wildcard (PostgreSQL manual, libpq, The Password
 * File). Null if there is none.
 * @param onWarning called if the file is ignored because others may read it, like in libpq
 */
export async function readPasswordFile(
  entry: PasswordFor,
  environment: NodeJS.ProcessEnv,
  onWarning: (message: string) => void,
): Promise<string | null> {
  const path = environment["PGPASSFILE"] || join(environment["HOME"] || homedir(), ".pgpass");
  const facts = await stat(path).catch(() => null);
  if (!facts?.isFile()) return null;
  if (process.platform !== "win32" && (facts.mode & 0o077) !== 0) {
    onWarning(`ignored ${path} because other users can read it; run chmod 600 ${path}`);
    return null;
  }
  const text = await readFile(path, "utf8").catch(() => "");
  const { host, port, database, user } = entry;
  // A Unix socket also matches `localhost`.
  const hosts = host.startsWith("/") ? [host, "localhost"] : [host];
  const patterns = [hosts, [String(port)], [database], [user]].map((names) => ["*"].concat(names));
  for (const line of text.split(/\r?\n/)) {
    const fields = fieldsOf(line);
    if (patterns.every((names, at) => names.includes(fields[at] ?? ""))) return fields[4] ?? null;
  }
  return null;
}

/** The five fields of a line, unescaped; none if it isn't a valid entry. */
function fieldsOf(line: string): readonly string[] {
  const fields =
    /^(?!#)((?:\\.|[^\\:])*):((?:\\.|[^\\:])*):((?:\\.|[^\\:])*):((?:\\.|[^\\:])*):(.*)$/.exec(
      line,
    );
  return fields?.slice(1).map((field) => field.replaceAll(/\\(.)/g, "$1")) ?? [];
}
