import type { ServiceOptions } from "../../src/service/service.js";
import { reply, startScriptedServer } from "./scripted-server.js";
import { runningService } from "../service/running-service.js";

export interface WatchedServiceOptions {
  readonly service?: ServiceOptions;
  /** Headers that each answer has in addition. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly onRequest?: () => void;
}

/** The embedded service, and the decoded paths of all requests that reach it. */
export async function watchedService({ service, headers, onRequest }: WatchedServiceOptions = {}) {
  const { opsUrl } = await runningService(service);
  const seen: string[] = [];
  const { url: origin } = await startScriptedServer(({ path, headers: { authorization } }) => {
    seen.push(decodeURIComponent(path));
    onRequest?.();
    const asked = fetch(opsUrl + path, { headers: authorization ? { authorization } : {} });
    return (socket, request) =>
      void asked.then(async (answer) =>
        reply(answer.status, await answer.text(), headers)(socket, request),
      );
  });
  return { seen, origin, intelUrl: `${origin}/beta` };
}
