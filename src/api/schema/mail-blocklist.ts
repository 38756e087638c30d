/**
 * The mail blocklist status of a query or quick-check result, or null. The interface names the
 * member `serviceMailBlocklist`; the deployed service is known to name it `abusixMailBlocklist`.
 */
export function mailBlocklist(result: { readonly [member: string]: unknown }): string | null {
  const status = result["serviceMailBlocklist"] ?? result["abusixMailBlocklist"];
  return typeof status === "string" ? status : null;
}
