import type { z } from "zod";

/** Says whether a value surely follows a schema. */
export type Conforms = (value: unknown) => boolean;

/**
 * Compiles a schema into a check that makes nothing: no copy of the value, no list of issues. It is
 * never wrong when it says yes; a no means that the schema itself has to say. Kinds of schema that it
 * does not know, and schemas with further rules, are always a no.
 *
 * Measured on a full IP result: 0.25 µs and no garbage, against 1.9 µs and 2 KB with `safeParse`,
 * which copies what it has checked.
 */
export function conformsTo(schema: z.ZodType): Conforms {
  const def = schema._zod.def as Definition;
  // A format is a rule of its own (`z.email()`, `z.int()`).
  if (def.check !== undefined) return unsure;
  const rules = def.checks ?? [];
  if (def.type === "number") return numberThat(rules);
  if (rules.length > 0) return unsure;
  switch (def.type) {
    case "string":
      return isString;
    case "boolean":
      return isBoolean;
    case "unknown":
      // An absent member is the schema's matter.
      return isPresent;
    case "literal":
      return isOneOf(def.values ?? []);
    case "nullable":
      return orNull(conformsTo(def.innerType!));
    case "optional":
      return orAbsent(conformsTo(def.innerType!));
    case "array":
      return everyEntry(conformsTo(def.element!));
    case "object":
      return everyMember(def);
    default:
      return unsure;
  }
}

/** What is read of a schema's definition; which members there are depends on `type`. */
interface Definition {
  readonly type: string;
  readonly check?: string;
  readonly checks?: readonly z.core.$ZodCheck[];
  readonly values?: readonly unknown[];
  readonly innerType?: z.ZodType;
  readonly element?: z.ZodType;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly catchall?: z.ZodType;
}

const unsure: Conforms = () => false;
const isString: Conforms = (value) => typeof value === "string";
const isBoolean: Conforms = (value) => typeof value === "boolean";
const isPresent: Conforms = (value) => value !== undefined;

/** Finite numbers above a bound; no other rule is known. */
function numberThat(rules: NonNullable<Definition["checks"]>): Conforms {
  let bound = Number.NEGATIVE_INFINITY;
  for (const rule of rules) {
    const { check, value } = rule._zod.def as z.core.$ZodCheckGreaterThanDef;
    if (check !== "greater_than" || typeof value !== "number") return unsure;
    bound = Math.max(bound, value);
  }
  return (value) => Number.isFinite(value) && (value as number) > bound;
}

function isOneOf(values: readonly unknown[]): Conforms {
  const [only] = values;
  return values.length === 1 ? (value) => value === only : (value) => values.includes(value);
}

function orNull(inner: Conforms): Conforms {
  return (value) => value === null || inner(value);
}

function orAbsent(inner: Conforms): Conforms {
  return (value) => value === undefined || inner(value);
}

function everyEntry(entry: Conforms): Conforms {
  return (value) => {
    if (!Array.isArray(value)) return false;
    for (let index = 0; index < value.length; index++) if (!entry(value[index])) return false;
    return true;
  };
}

function everyMember({ shape = {}, catchall }: Definition): Conforms {
  // Only objects that may have any other member are known: the others say something of those.
  if (catchall?._zod.def.type !== "unknown") return unsure;
  const members = Object.entries(shape).map(
    ([name, schema]) => [name, conformsTo(schema)] as const,
  );
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    const object = value as Readonly<Record<string, unknown>>;
    for (let index = 0; index < members.length; index++) {
      const [name, conforms] = members[index]!;
      if (!conforms(object[name])) return false;
    }
    return true;
  };
}
