import { createRequire } from "node:module";
import { Writable } from "node:stream";

/** What a password file entry is found by. */
interface Login {
  readonly host: string;
  readonly port: number;
  readonly database?: string | undefined;
  readonly user?: string | undefined;
}

/** Reads password files. pg depends on it, but deprecates calling it on its own. */
interface PgPass {
  (login: Login, found: (password: string | undefined) => void): void;
  warnTo(stream: Writable): void;
}

/**
 * Finds a password in `PGPASSFILE` or `~/.pgpass` (PostgreSQL manual, libpq, The Password File).
 * @param onWarning called if the file is ignored because others may read it
 */
export async function filePassword(
  login: Login,
  onWarning: (message: string) => void,
): Promise<string | undefined> {
  const besidePg = createRequire(createRequire(import.meta.url).resolve("pg"));
  const pgpass = besidePg("pgpass") as PgPass;
  const warnings = new Writable({
    write(text: Buffer, _encoding, done) {
      onWarning(text.toString().replace("WARNING: ", "").trim());
      done();
    },
  });
  pgpass.warnTo(warnings);
  // A folder is that of a Unix socket.
  const host = login.host.startsWith("/") ? "localhost" : login.host;
  const { port, database, user } = login;
  return new Promise((resolve) => pgpass({ host, port, database, user }, resolve));
}
