import { reply, startScriptedServer } from "./scripted-server.js";
import { runningService } from "../service/running-service.js";

/** The embedded service, and the decoded paths of all requests that reach it. */
export async function watchedService() {
  const service = await runningService();
  const own = new URL(service.intelUrl);
  const seen: string[] = [];
  const { url: origin } = await startScriptedServer(({ path, headers }) => {
    seen.push(decodeURIComponent(path));
    const { authorization } = headers;
    const asked = fetch(own.origin + path, { headers: authorization ? { authorization } : {} });
    return (socket, request) =>
      void asked.then(async (answer) => reply(answer.status, await answer.text())(socket, request));
  });
  return { seen, origin, intelUrl: `${origin}/beta` };
}
