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
