import { expect, test } from "vitest";
import { saysAuthenticationFailed } from "../../../src/client/api/service-description.js";

test.each([
  "Authentication Failed",
  "AUTHENTICATION FAILED\n",
  "Error: authentication failed.",
  '"Authentication Failed"',
  '{"error":"Authentication Failed"}',
  '{"errors":[{"detail":"the authentication\\nfailed"}]}',
  '{"message":"\\u0041uthentication\\u0020Failed"}',
  '{"code":"authentication_failed"}',
  '{"AuthenticationFailed":true}',
  "<html><h1>Authentication <b>Failed</b></h1></html>",
  "<p>Authentication&nbsp;Failed</p>",
])("%j says that authentication failed", (body) => {
  const says = [body, Buffer.from(body)].map(saysAuthenticationFailed);
  expect(says).toEqual([true, true]);
});

test.each([
  "",
  "Authentication succeeded",
  "failed: authentication pending",
  '{"authentication_failed":false}',
  '{"authenticationFailed": 0, "delivered": 3}',
])("%j does not", (body) => {
  expect(saysAuthenticationFailed(body)).toBe(false);
});
