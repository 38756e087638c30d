/** Whether an `Authorization` header bears the token (interface: Authentication). */
export function bears(header: string | undefined, token: string): boolean {
  const match = /^Bearer +(\S+) *$/i.exec(header ?? "");
  return match?.[1] === token;
}
