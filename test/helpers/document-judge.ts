import fastify from "fastify";
import { openApiDocument } from "../../src/api/openapi.js";

/** Explains why a value does not match a schema of the OpenAPI document; null if it does. */
export type DocumentJudge = (schema: string, value: unknown) => Promise<string | null>;

/**
 * Validates values against the OpenAPI document with a JSON Schema validator independent of the
 * client's.
 *
 * @param formats whether to check `format`, as in `date-time`; the client does not
 */
export async function documentJudge({ formats = true } = {}): Promise<DocumentJudge> {
  const document = JSON.parse(JSON.stringify(openApiDocument())) as {
    components: { schemas: Readonly<Record<string, unknown>> };
  };
  const app = fastify({
    bodyLimit: 64 * 1024 * 1024,
    ajv: {
      customOptions: {
        strict: false,
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: false,
        validateFormats: formats,
      },
    },
  });
  app.addSchema({ $id: "interface", components: document.components });
  for (const name of Object.keys(document.components.schemas)) {
    const body = { $ref: `interface#/components/schemas/${name}` };
    app.post(`/${name}`, { schema: { body } }, () => ({ fine: true }));
  }
  await app.ready();
  return async (schema, value) => {
    const headers = { "content-type": "application/json" };
    const payload = JSON.stringify(value);
    const answer = await app.inject({ method: "POST", url: `/${schema}`, headers, payload });
    if (answer.statusCode === 200) return null;
    return answer.json<{ message: string }>().message;
  };
}
