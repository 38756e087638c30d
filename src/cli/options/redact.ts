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

/** A warning about a password on the command line; null if there is none. */
export function passwordWarning(args: readonly string[]): string | null {
  const found = args.map(passwordOf).find((each) => each !== null);
  if (found === undefined) return null;
  const [server, remedy] =
    found === "redis"
      ? ["Redis", "set REDISCLI_AUTH, or set"]
      : ["PostgreSQL", "set PGPASSWORD, use ~/.pgpass, or set"];
  return (
    `other users can see the ${server} password on the command line (ps): ` +
    `${remedy} the address in a variable or config file`
  );
}

/** The server whose URL, in an argument or its value after `--flag=`, has a password. */
function passwordOf(arg: string): "postgres" | "redis" | null {
  const text = arg.replace(/^(?:-\w|--[\w-]+=)/, "");
  const [, scheme] = /^(postgres|redis)(?:ql|s)?:/i.exec(text) ?? [];
  if (scheme === undefined || !URL.canParse(text)) return null;
  const { password, searchParams } = new URL(text);
  const parameters = [searchParams.get("password"), searchParams.get("sslpassword")];
  if (![password, ...parameters].some(Boolean)) return null;
  return scheme.toLowerCase() === "redis" ? "redis" : "postgres";
}
