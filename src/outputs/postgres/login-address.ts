import type { PostgresDriver } from "./session.js";
import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * The address as pg needs it to log in: with the password of the password file, where neither it
 * nor the environment has one.
 *
 * @param onWarning told when the password file may not be read
 */
export async function loginAddress(
  driver: PostgresDriver,
  url: string,
  onWarning: (message: string) => void,
): Promise<string> {
  const address = new URL(url);
  // sslmode means what it means to psql; pg gives it a stricter meaning otherwise, and warns of it.
  if (address.searchParams.has("sslmode")) address.searchParams.set("uselibpqcompat", "true");
  // A client that never connects tells what the address and the environment come to together.
  const client = new driver.Client({ connectionString: address.href });
  if (!client.password) {
    const { host, port, database = "", user = "" } = client;
    const found = await readPasswordFile({ host, port, database, user }, process.env, onWarning);
    if (found !== null) address.searchParams.set("password", found);
  }
  return address.href;
}

/** What a password is looked up by. */
export interface PasswordFor {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/**
 * The password that `PGPASSFILE` or `~/.pgpass` has, or null: the first line whose
 * `host:port:database:user` fits, `*` standing for anything (PostgreSQL, 34.16, The Password File).
 *
 * @param onWarning told when the file is left alone because others may read it, as libpq does
 */
export async function readPasswordFile(
  wanted: PasswordFor,
  environment: NodeJS.ProcessEnv,
  onWarning: (message: string) => void,
): Promise<string | null> {
  const path = environment["PGPASSFILE"] || join(environment["HOME"] || homedir(), ".pgpass");
  const facts = await stat(path).catch(() => null);
  if (!facts?.isFile()) return null;
  if (process.platform !== "win32" && (facts.mode & 0o077) !== 0) {
    onWarning(`${path} was not read because others may read it: chmod 600 it`);
    return null;
  }
  const text = await readFile(path, "utf8").catch(() => "");
  const { host, port, database, user } = wanted;
  // A socket in a folder goes by `localhost` as well.
  const hosts = host.startsWith("/") ? [host, "localhost"] : [host];
  const place = [hosts, [String(port)], [database], [user]].map((names) => ["*"].concat(names));
  for (const line of text.split(/\r?\n/)) {
    const fields = fieldsOf(line);
    if (place.every((names, at) => names.includes(fields[at] ?? ""))) return fields[4] ?? null;
  }
  return null;
}

/** The five fields of a line, colons and backslashes in them escaped with a backslash; else none. */
function fieldsOf(line: string): readonly string[] {
  const fields =
    /^(?!#)((?:\\.|[^\\:])*):((?:\\.|[^\\:])*):((?:\\.|[^\\:])*):((?:\\.|[^\\:])*):(.*)$/.exec(
      line,
    );
  return fields?.slice(1).map((field) => field.replaceAll(/\\(.)/g, "$1")) ?? [];
}
