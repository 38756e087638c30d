import { didYouMean } from "./text/did-you-mean.js";
import type { z } from "zod";

/** Completes the sentence that begins with an option's name: `must be at least 1`. */
export function explainIssue(issue: z.core.$ZodIssue): string {
  // Our own messages begin with "must"; zod's do not.
  if (issue.message.startsWith("must ")) return issue.message;
  if (issue.code === "invalid_union") return explainUnion(issue.errors);
  if (issue.code === "invalid_value")
    return `must be one of ${issue.values.map(String).join(", ")}`;
  if (issue.code === "invalid_type")
    return `must be ${typeNames[issue.expected] ?? issue.expected}`;
  if (issue.code === "too_small") return tooSmall(issue);
  if (issue.code === "too_big") return `must be at most ${String(issue.maximum)}`;
  return `is not valid: ${issue.message}`;
}

/** ` (did you mean WORD?)` for a value that resembles one of an enumeration; else empty. */
export function nearestAllowed(issue: z.core.$ZodIssue, value: unknown): string {
  if (issue.code !== "invalid_value" || typeof value !== "string") return "";
  const word = didYouMean(value, issue.values.map(String));
  return word === null ? "" : ` (did you mean ${word}?)`;
}

const typeNames: Readonly<Record<string, string>> = {
  boolean: "true or false",
  number: "a number",
  int: "a whole number",
  string: "text",
  array: "a list",
  object: "an object",
};

function tooSmall(issue: z.core.$ZodIssueTooSmall): string {
  if (issue.origin === "string") return "must not be empty";
  if (issue.origin === "array") return "must name at least one";
  return `must be at least ${String(issue.minimum)}`;
}

/** Explains the branch that matches the value's type; names every type if none does. */
function explainUnion(branches: readonly (readonly z.core.$ZodIssue[])[]): string {
  const firsts = branches.map((issues) => issues[0]).filter((issue) => issue !== undefined);
  const near = firsts.find((issue) => issue.code !== "invalid_type");
  if (near) return explainIssue(near);
  const types = firsts.map((issue) => explainIssue(issue).replace(/^must be /, ""));
  return `must be ${[...new Set(types)].join(" or ")}`;
}
