import { redactAddress } from "../../core/redaction.js";

/** User name and password, even with spaces, in an argument that is a single URL. */
const urlCredentials = /^((?:-\w|--[\w-]+=)?[a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i;
const passwordParameters = /([?&](?:ssl)?password=)[^&#]*/gi;

/** Path and query of a ping address: secret, since they are all it takes to send a ping. */
const pingPath = /^((?:--ping=)?https?:\/\/[^/?#]*).+$/i;

/** The command line with the credentials of URLs masked. */
export function shownCommand(args: readonly string[]): readonly string[] {
  const shown = args.map((arg, index) => {
    const isPing = arg.startsWith("--ping=") || args[index - 1] === "--ping";
    return shownArgument(isPing ? arg.replace(pingPath, "$1/***") : arg);
  });
  return ["repute", ...shown];
}

function shownArgument(arg: string): string {
  const masked = arg.replace(urlCredentials, "$1***@");
  return redactAddress(
    masked.includes("://") ? masked.replaceAll(passwordParameters, "$1***") : masked,
  );
}

/** A PostgreSQL or Redis address with a password, as an argument or after `--flag=`. */
const withPassword =
  /^(?:-\w|--[\w-]+=)?(?:postgres|redis)(?:ql|s)?:\/\/(?:[^/?#]*:[^/?#]+@|.*[?&](?:ssl)?password=[^&])/i;

export function passwordWarning(args: readonly string[]): string | null {
  if (!args.some((arg) => withPassword.test(arg))) return null;
  return (
    "other users can see the password on the command line (ps): set PGPASSWORD or REDISCLI_AUTH, " +
    "use ~/.pgpass, or set the address in a variable or config file"
  );
}
