import type { Command, CommandGroup } from "./command.js";

/**
 * Every command under its heading, in the order of the help. Running a command loads only its own
 * modules.
 */
const sections = {
  "Lists of items": {
    enrich: async () => (await import("./commands/runs/enrich-job.js")).enrichCommand,
    plan: async () => (await import("./commands/plan.js")).planCommand,
    retry: async () => (await import("./commands/runs/retry.js")).retryCommand,
    extract: async () => (await import("./commands/extract.js")).extractCommand,
    verify: async () => (await import("./commands/results.js")).verifyCommand,
    report: async () => (await import("./commands/results.js")).reportCommand,
    diff: async () => (await import("./commands/results.js")).diffCommand,
  },
  "Single items": {
    query: async () => (await import("./commands/query.js")).queryCommand,
    "quick-check": async () => (await import("./commands/query.js")).quickCheckCommand,
  },
  Tags: {
    "tags list": async () => (await import("./commands/tag/read.js")).tagsListCommand,
    "tags show": async () => (await import("./commands/tag/read.js")).tagsShowCommand,
    "tags ips": async () => (await import("./commands/tag/read.js")).tagsIpsCommand,
    "tags export": async () => (await import("./commands/tag/export.js")).tagsExportCommand,
  },
  "Cases and webhooks": {
    customers: async () => (await import("./commands/case.js")).customersCommand,
    "case show": async () => (await import("./commands/case.js")).caseShowCommand,
    "case context": async () => (await import("./commands/case.js")).caseContextCommand,
    "case enrich": async () => (await import("./commands/case.js")).caseEnrichCommand,
    "webhook check": async () => (await import("./commands/webhook.js")).webhookCheckCommand,
    "webhook send": async () => (await import("./commands/webhook.js")).webhookSendCommand,
  },
  "Set-up": {
    doctor: async () => (await import("./commands/doctor.js")).doctorCommand,
    completion: async () => (await import("./commands/completion.js")).completionCommand,
    schema: async () => (await import("./commands/schema.js")).schemaCommand,
    serve: async () => (await import("./commands/serve.js")).serveCommand,
    mcp: async () => (await import("./commands/mcp.js")).mcpCommand,
  },
  "Many machines": {
    worker: async () => (await import("./commands/worker.js")).workerCommand,
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, () => Promise<Command>>>>>;

type Sections = typeof sections;

type CommandName = { [Title in keyof Sections]: keyof Sections[Title] }[keyof Sections];

const loaders: Readonly<Record<CommandName, () => Promise<Command>>> = Object.assign(
  {},
  ...Object.values(sections),
);

export const commandNames = Object.keys(loaders) as readonly CommandName[];

export function inSections(commands: readonly Command[]) {
  return Object.entries(sections)
    .map(([title, own]) => [title, commands.filter(({ name }) => name in own)] as const)
    .filter(([, members]) => members.length > 0);
}

export async function loadCommand(name: string | null): Promise<Command | null> {
  const known = commandNames.find((each) => each === name);
  return known === undefined ? null : loaders[known]();
}

export function loadCommands(): Promise<readonly Command[]> {
  return Promise.all(commandNames.map((name) => loaders[name]()));
}

/**
 * The command or group that a command line begins with; null if there is none.
 *
 * @param names what to look for. @default all commands and groups
 */
export function commandNamed(
  words: readonly string[],
  names: readonly string[] = [...commandNames, ...groups.map(({ name }) => name)],
): string | null {
  const two = words.slice(0, 2).join(" ");
  const [first = ""] = words;
  return names.find((name) => name === two) ?? names.find((name) => name === first) ?? null;
}

export const groups: readonly CommandGroup[] = [
  {
    name: "tags",
    summary: "list, show and export tags",
    description:
      "A tag names a kind of threat activity, as <group>:<name>. It has a description and a list of the IP addresses where the activity was seen.",
  },
  {
    name: "case",
    summary: "show a case, or look up its addresses",
    description:
      "A reputation-share case collects the events of one customer. Its context, from the case management instance, fills in webhook payloads.",
  },
  {
    name: "webhook",
    summary: "check or send a webhook",
    description:
      "A webhook is a call that the case management product makes when a case changes state. It is configured in a YAML or JSON file with name, endpoint, method, path and payload. Fields in the payload, such as {{ s.resolver_data.CustomerEmail }}, are filled in from the context of the case.",
  },
];

export function membersOf(group: string, commands: readonly Command[]): readonly Command[] {
  return commands.filter(({ name }) => name.startsWith(`${group} `));
}
