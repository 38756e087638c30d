import { lookupOptions } from "../../../client/lookup/options.js";
import { option, wholeNumber } from "../../../core/options.js";
import { sourceOptions } from "../../../io/input/source-options.js";
import { defineCommand } from "../../command.js";
import { lookupGroups } from "../../services/services.js";

const groups = {
  ...lookupGroups,
  Lookups: {
    ...lookupGroups.Lookups,
    maxTlp: option(sourceOptions.shape.maxTlp, {
      description:
        "Strictest TLP mark that may be sent. The assistant must then say how its items are marked; without a mark nothing is sent",
      value: "MARK",
    }),
  },
  Pace: { ...lookupGroups.Pace, partialRetries: lookupOptions.shape.partialRetries },
  Run: {
    maxRequests: option(wholeNumber(1).default(200), {
      description: "Maximum number of requests of the session",
      value: "N",
    }),
  },
};

export const mcpCommand = defineCommand({
  name: "mcp",
  summary: "offer the look-ups to an assistant, as tools on stdio",
  description: [
    "Serves four read-only tools in the Model Context Protocol until stdin ends: look up items, find the items in a text, describe a tag, list a tag's addresses. An assistant starts it; samples/assistants has the configuration.",
    "Exclusions, pace and cache hold as for every command. Texts of the service are marked as data, since anyone may have written them.",
  ],
  groups,
  examples: {
    "repute mcp --local": "try it with the embedded service",
    "repute mcp --intel-url https://intel.example/beta --exclude corp.txt --max-requests 50":
      "keep own names here and the number of requests low; REPUTE_API_KEY holds the key",
  },
  run: async (call) => {
    const { serveTools } = await import("./serve-tools.js");
    return serveTools(call);
  },
});
