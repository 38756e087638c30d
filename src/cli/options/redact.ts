/**
 * User name and password of an address, between its scheme and the last `@` before its path. A
 * password may hold a slash where somebody forgot to encode it; a port does not begin one.
 */
const credentials = /\b([a-z][a-z0-9+.-]*:\/\/)(?:[^/\s?#]*|[^/\s:@]*:(?!\d*[/?#])\S*)@/gi;

/** The same of an argument that is one address: spaces are a part of it there. */
const ownCredentials = /^((?:-\w|--[\w-]+=)?[a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i;

/** A password among the parameters of a database's address, which drivers take from there, too. */
const parameters = /([?&](?:ssl)?password=)[^&\s#]*/gi;
const ownParameters = /([?&](?:ssl)?password=)[^&#]*/gi;

/** Hides the user name and password of every address in a text: `https://***@host`. */
export function redactAddress(text: string): string {
  return text.replaceAll(credentials, "$1***@").replaceAll(parameters, "$1***");
}

/** The command line as it may be shown and kept: no credential of an address stays in it. */
export function shownCommand(args: readonly string[]): readonly string[] {
  return ["repute", ...args.map(shownArgument)];
}

function shownArgument(arg: string): string {
  const own = arg.replace(ownCredentials, "$1***@");
  return redactAddress(own.includes("://") ? own.replaceAll(ownParameters, "$1***") : own);
}

/** What to be told about a password on the command line; null when there is none. */
export function passwordWarning(args: readonly string[]): string | null {
  if (!args.some(hasPassword)) return null;
  return (
    "the password of a PostgreSQL address on the command line can be seen by other users (ps): " +
    "set PGPASSWORD, keep it in ~/.pgpass, or give the address as a variable or with --config"
  );
}

/** Whether an argument, or the value that stands in it behind its flag, is an address with a password. */
function hasPassword(arg: string): boolean {
  const text = arg.replace(/^(?:-\w|--[\w-]+=)/, "");
  if (!/^postgres(?:ql)?:/i.test(text) || !URL.canParse(text)) return false;
  const { password, searchParams } = new URL(text);
  return [password, searchParams.get("password"), searchParams.get("sslpassword")].some(Boolean);
}
