import { redactAddress } from "../../core/redaction.js";

/** User name and password of an argument that is a single URL, which may contain spaces. */
const ownCredentials = /^((?:-\w|--[\w-]+=)?[a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i;
const ownParameters = /([?&](?:ssl)?password=)[^&#]*/gi;

/** Path and query of the address of a ping, which tell anyone how to send one. */
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
  const own = arg.replace(ownCredentials, "$1***@");
  return redactAddress(own.includes("://") ? own.replaceAll(ownParameters, "$1***") : own);
}

/** The address of a server with its password, in an argument or its value after `--flag=`. */
const withPassword =
  /^(?:-\w|--[\w-]+=)?(?:postgres|redis)(?:ql|s)?:\/\/(?:[^/?#]*:[^/?#]+@|.*[?&](?:ssl)?password=[^&])/i;

export function passwordWarning(args: readonly string[]): string | null {
  if (!args.some((arg) => withPassword.test(arg))) return null;
  return (
    "other users can see the password on the command line (ps): set PGPASSWORD or REDISCLI_AUTH, " +
    "use ~/.pgpass, or set the address in a variable or config file"
  );
}
