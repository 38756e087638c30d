/**
 * User name and password of a URL, between its scheme and the last `@` before its path. The password
 * may contain an unencoded slash; a port followed by a path is not a password.
 */
const credentials = /\b([a-z][a-z0-9+.-]*:\/\/)(?:[^/\s?#]*|[^/\s:@]*:(?!\d*[/?#])\S*)@/gi;

/** The same in an argument that is a single URL, which may contain spaces. */
const ownCredentials = /^((?:-\w|--[\w-]+=)?[a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i;

/** A password in the query of a database URL, which drivers accept too. */
const parameters = /([?&](?:ssl)?password=)[^&\s#]*/gi;
const ownParameters = /([?&](?:ssl)?password=)[^&#]*/gi;

/** Masks user name and password of every URL in a text: `https://***@host`. */
export function redactAddress(text: string): string {
  return text.replaceAll(credentials, "$1***@").replaceAll(parameters, "$1***");
}

/** The command line with the credentials of URLs masked. */
export function shownCommand(args: readonly string[]): readonly string[] {
  return ["repute", ...args.map(shownArgument)];
}

function shownArgument(arg: string): string {
  const own = arg.replace(ownCredentials, "$1***@");
  return redactAddress(own.includes("://") ? own.replaceAll(ownParameters, "$1***") : own);
}

/** A warning about a password on the command line; null if there is none. */
export function passwordWarning(args: readonly string[]): string | null {
  if (!args.some(hasPassword)) return null;
  return (
    "other users can see the PostgreSQL password on the command line (ps): " +
    "set PGPASSWORD, use ~/.pgpass, or set the address in a variable or config file"
  );
}

/** Whether an argument, or its value after `--flag=`, is a database URL with a password. */
function hasPassword(arg: string): boolean {
  const text = arg.replace(/^(?:-\w|--[\w-]+=)/, "");
  if (!/^postgres(?:ql)?:/i.test(text) || !URL.canParse(text)) return false;
  const { password, searchParams } = new URL(text);
  return [password, searchParams.get("password"), searchParams.get("sslpassword")].some(Boolean);
}
