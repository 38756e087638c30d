import { readPasswordFile } from "./password-file.js";
import type { PostgresDriver } from "./session.js";

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
    const wanted = { host, port, database, user };
    const found = await readPasswordFile(wanted, process.env, onWarning);
    if (found !== null) address.searchParams.set("password", found);
  }
  return address.href;
}
