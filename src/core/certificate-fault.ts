/** Error codes of OpenSSL's verification and Node.js's host name check (Node.js documentation: tls, X509 certificate error codes). */
const certificateCode =
  /^(?:CERT_|CRL_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED_|UNABLE_TO_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_|ERR_TLS_CERT_)/;

export function isCertificateFault(code: string | undefined): boolean {
  return code !== undefined && certificateCode.test(code);
}
