import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { WebSocket } from "undici";

const chromium = "/usr/bin/chromium";

type Parameters = Readonly<Record<string, unknown>>;

/** What a page did while it was shown. */
export interface PageEvents {
  /** Addresses that were asked for, that of the page aside. */
  readonly requests: readonly string[];
  /** Errors, warnings and output on the console. */
  readonly console: readonly string[];
}

export interface View {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  readonly print?: boolean;
}

/** Chromium without a window, driven by its debugging protocol. */
export class Browser {
  readonly #child: ChildProcess;
  readonly #profile: string;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (message: Message) => void>();
  readonly #events: Message[] = [];
  #session = "";
  #next = 1;

  private constructor(child: ChildProcess, profile: string, socket: WebSocket) {
    this.#child = child;
    this.#profile = profile;
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) =>
      this.#take(JSON.parse(String(data)) as Message),
    );
  }

  static async open(): Promise<Browser> {
    const profile = await mkdtemp(join(tmpdir(), "repute-browser-"));
    const child = spawn(chromium, [...flags, `--user-data-dir=${profile}`], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    const address = await addressOf(child);
    const socket = new WebSocket(address);
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve, { once: true });
      socket.addEventListener("error", reject, { once: true });
    });
    const browser = new Browser(child, profile, socket);
    const { targetId } = await browser.#ask("Target.createTarget", { url: "about:blank" });
    const attached = await browser.#ask("Target.attachToTarget", { targetId, flatten: true });
    browser.#session = String(attached["sessionId"]);
    for (const domain of ["Page", "Network", "Runtime", "Log"])
      await browser.send(`${domain}.enable`);
    return browser;
  }

  /** Opens a file and waits until it is loaded. */
  async show(page: string, { width = 1280, height = 900, dark = false, print = false }: View = {}) {
    await this.send("Emulation.setDeviceMetricsOverride", {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: false,
    });
    await this.send("Emulation.setEmulatedMedia", {
      media: print ? "print" : "screen",
      features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }],
    });
    this.#events.length = 0;
    const loaded = this.#event("Page.loadEventFired");
    await this.send("Page.navigate", { url: pathToFileURL(page).href });
    await loaded;
  }

  /** What the page has done since it was opened. */
  events(): PageEvents {
    const requests = this.#named("Network.requestWillBeSent").map(
      (params) => (params["request"] as { url: string }).url,
    );
    const spoken = [
      "Runtime.consoleAPICalled",
      "Runtime.exceptionThrown",
      "Log.entryAdded",
    ].flatMap((name) => this.#named(name).map((params) => JSON.stringify(params)));
    return { requests: requests.slice(1), console: spoken };
  }

  /** Value of an expression in the page. The page's own policy does not apply to it. */
  async evaluate(expression: string): Promise<unknown> {
    const answer = await this.send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (answer["exceptionDetails"] !== undefined) {
      throw new Error(JSON.stringify(answer["exceptionDetails"]));
    }
    return (answer["result"] as { value?: unknown }).value;
  }

  send(method: string, params: Parameters = {}): Promise<Parameters> {
    return this.#ask(method, params, this.#session);
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill();
    await ended;
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }

  #named(method: string): Parameters[] {
    return this.#events.flatMap((event) => (event.method === method ? [event.params ?? {}] : []));
  }

  #ask(method: string, params: Parameters, sessionId = ""): Promise<Parameters> {
    const id = this.#next++;
    const session = sessionId === "" ? {} : { sessionId };
    this.#socket.send(JSON.stringify({ id, method, params, ...session }));
    return new Promise((resolve, reject) =>
      this.#waiting.set(id, ({ error, result = {} }) => {
        if (error === undefined) resolve(result);
        else reject(new Error(`${method}: ${error.message}`));
      }),
    );
  }

  readonly #expected = new Map<string, () => void>();

  #event(method: string): Promise<void> {
    return new Promise((resolve) => this.#expected.set(method, resolve));
  }

  #take(message: Message): void {
    if (message.id !== undefined) return this.#waiting.get(message.id)?.(message);
    this.#events.push(message);
    this.#expected.get(message.method ?? "")?.();
  }
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Parameters;
  readonly result?: Parameters;
  readonly error?: { readonly message: string };
}

const flags = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--hide-scrollbars",
  "--remote-debugging-port=0",
];

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
      const match = /DevTools listening on (\S+)/.exec(said);
      if (match !== null) resolve(match[1]!);
    });
    child.once("exit", () => reject(new Error(`chromium ended: ${said}`)));
    child.once("error", reject);
  });
}
