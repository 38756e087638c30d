import { UsageError } from "../../core/errors.js";
import type { ServiceDescription } from "../service-description.js";

/**
 * Makes the header that carries a credential; none without one.
 *
 * @throws UsageError when the credential has characters that a header cannot carry (a line end that
 *   came along from a file, say); the message does not show it
 */
export function credentialHeader(
  credential: string | undefined,
  header: (credential: string) => readonly [name: string, value: string],
  service: ServiceDescription,
): readonly (readonly [string, string])[] {
  if (credential === undefined) return [];
  if (!/^[\x21-\x7e]+$/.test(credential)) {
    const { name, variable } = service.credential;
    throw new UsageError(
      "invalid_credential",
      `the ${name} in ${variable} is empty or has blanks or other characters that cannot be sent`,
    );
  }
  return [header(credential)];
}

/** RFC 6750 section 2.1. */
export function bearer(credential: string): readonly [string, string] {
  return ["authorization", `Bearer ${credential}`];
}
