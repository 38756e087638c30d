import { z } from "zod";
import { results } from "./query-result.js";

const { IP_BOGON: _notAmongThem, ...others } = results;

/**
 * The kinds of result while a part of the data is unavailable, by their `type`: of an IP address and a
 * domain every member but `item` and `type` may be null, and one that is absent counts as null. The
 * other kinds are as in the full result, and IP_BOGON is not among them (interface: Partial result).
 */
export const partialResults = {
  ...others,
  IP: partialOf(results.IP),
  DOMAIN: partialOf(results.DOMAIN),
};

/** Result of `/query/{item}` with HTTP 503 (interface: Partial result). */
export const partialResultSchema = z.discriminatedUnion("type", [
  partialResults.IP,
  partialResults.DOMAIN,
  partialResults.URL,
  partialResults.SHA1,
  partialResults.CRYPTO_WALLET,
  partialResults.EMAIL,
]);

export type PartialIpResult = z.infer<typeof partialResults.IP>;
export type PartialDomainResult = z.infer<typeof partialResults.DOMAIN>;
export type PartialResult = z.infer<typeof partialResultSchema>;

type Nullish<Field> = Field extends z.ZodNullable
  ? z.ZodOptional<Field>
  : Field extends z.ZodType
    ? z.ZodOptional<z.ZodNullable<Field>>
    : never;

type PartialShape<Shape> = {
  [Member in keyof Shape]: Member extends "item" | "type" ? Shape[Member] : Nullish<Shape[Member]>;
};

function partialOf<Shape extends Readonly<Record<string, z.ZodType>>>(
  result: z.ZodObject<Shape, z.core.$loose>,
): z.ZodObject<PartialShape<Shape>, z.core.$loose> {
  const shape = Object.entries(result.shape).map(([name, field]) => {
    if (name === "item" || name === "type") return [name, field];
    return [name, field instanceof z.ZodNullable ? field.optional() : field.nullish()];
  });
  return z.looseObject(Object.fromEntries(shape) as PartialShape<Shape>);
}
