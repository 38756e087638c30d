// A server of lookups on raw sockets whose faults its parent switches on and off: one process, with a
// channel to the parent.
//
//   in:  { fault: NAME | null }     one of `faults`, or none
//        { report: true }           asks for the counts
//   out: { url }                    once, when it listens
//        counts                     see `report`
//
// A fault hits a share of the requests, but an item no more often in a row than a run repeats it.
import { createServer } from "node:net";

const rate = Number(process.argv[2]);
const share = 0.3;

/** How often in a row a fault may hit an item: a run repeats some only once. */
const inARow = { "HTML page": 1, "other item": 1 };
const mostInARow = 2;

/** Beyond this many requests a second, the server throttles while it is told to. */
const limit = rate / 2;

const throttled = {
  429: "HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n",
  503: "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n",
};
const page = "<html><body>Please sign in</body></html>";

/** Each does something else with a request than answer it. */
const faults = {
  late: (socket, ask) => void setTimeout(() => socket.write(answerTo(ask)), 400),
  partial: (socket, ask) => socket.write(partTo(ask)),
  reset: (socket) => socket.resetAndDestroy(),
  silent: () => undefined,
  broken: (socket, ask) => socket.end(answerTo(ask).slice(0, -40)),
  "HTML page": (socket) => socket.write(http(200, page, "text/html")),
  "error 500": (socket) => socket.write(http(500, '{"message":"Internal Server Error"}')),
  "other item": (socket, ask) => socket.write(answerTo({ ...ask, item: "192.0.2.1" })),
};

let fault = null;
/** How often in a row a fault hit an item; only items that a fault hit last. */
const hit = new Map();
const sockets = new Set();
const counts = { arrived: 0, answered: 0, most: 0, byOutcome: {} };
/** Times of the latest arrivals, to find the most within a second. */
const arrivals = [];
let [tokens, filledAt] = [limit / 10, performance.now()];

const server = createServer((socket) => {
  sockets.add(socket);
  socket.setNoDelay(true);
  socket.on("close", () => sockets.delete(socket));
  socket.on("error", () => socket.destroy());
  let rest = "";
  socket.on("data", (chunk) => {
    const requests = (rest + chunk.toString("latin1")).split("\r\n\r\n");
    rest = requests.pop();
    for (const request of requests) handle(socket, request);
  });
});

function handle(socket, request) {
  const [, endpoint, encoded] = /^GET \/beta\/([^/]+)\/(\S+) HTTP/.exec(request);
  const ask = { endpoint, item: decodeURIComponent(encoded) };
  arrive();
  if (fault in throttled && !admits()) return end(fault, () => socket.write(throttled[fault]));
  const key = `${endpoint} ${ask.item}`;
  const times = hit.get(key) ?? 0;
  if (mayHit(endpoint, times) && chance(key, times) < share) {
    hit.set(key, times + 1);
    if (fault === "late") counts.answered++;
    return end(fault, () => faults[fault](socket, ask));
  }
  hit.delete(key);
  counts.answered++;
  end("answer", () => socket.write(answerTo(ask)));
}

/** Quick checks are never partial. */
function mayHit(endpoint, times) {
  if (!(fault in faults) || (fault === "partial" && endpoint !== "query")) return false;
  return times < (inARow[fault] ?? mostInARow);
}

function end(outcome, act) {
  counts.byOutcome[outcome] = (counts.byOutcome[outcome] ?? 0) + 1;
  act();
}

function arrive() {
  const now = performance.now();
  counts.arrived++;
  arrivals.push(now);
  while (now - arrivals[0] >= 1000) arrivals.shift();
  counts.most = Math.max(counts.most, arrivals.length);
}

/** A token bucket for a tenth of a second. */
function admits() {
  const now = performance.now();
  tokens = Math.min(limit / 10, tokens + ((now - filledAt) * limit) / 1000);
  filledAt = now;
  if (tokens < 1) return false;
  tokens--;
  return true;
}

/** The same from 0 to 1 for the same request (FNV-1a). */
function chance(key, salt) {
  let hash = 0x811c9dc5 ^ salt;
  for (let at = 0; at < key.length; at++) {
    hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 12)) >>> 0) / 2 ** 32;
}

function answerTo({ endpoint, item }) {
  return http(200, body("success", 200, endpoint === "query" ? full(item) : quick(item)));
}

function partTo({ item }) {
  const result = { ...full(item), intent: null, asn: null };
  return http(503, body("partial_success", 503, result, { errors: {} }));
}

function body(status, statusCode, result, more = {}) {
  return JSON.stringify({ status, statusCode, result, ...more });
}

function quick(item) {
  const verdict = { serviceMailBlocklist: "NOT_LISTED", intent: "suspicious" };
  return { item, type: "IP", bogon: false, activity: true, ...verdict };
}

function full(item) {
  const seen = { firstSeen: "2025-01-01T00:00:00Z", lastSeen: "2026-01-01T00:00:00Z" };
  return {
    item,
    serviceMailBlocklist: "NOT_LISTED",
    type: "IP",
    bogon: false,
    tags: ["scanner:port-scan"],
    ...seen,
    intent: "suspicious",
    reverseDns: { current: [{ entry: "host.example.net" }] },
    abuseContact: { email: "abuse@example.net", status: "WORKING", lastVerification: null },
    asn: { countryCode: "DE", asn: "AS64496", name: "Example Networks" },
    observedActivity: {
      honeypotInteractions: { ...seen, observations: [] },
      spamtrapInteractions: { firstSeen: null, lastSeen: null, observations: [] },
    },
  };
}

function http(status, text, type = "application/json") {
  return `HTTP/1.1 ${status} X\r\ncontent-type: ${type}\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
}

/** Switches a fault on. An outage closes the port and cuts every connection. */
function change(to) {
  if (to === "outage") {
    server.close();
    for (const socket of sockets) socket.destroy();
  } else if (fault === "outage") server.listen(port, "127.0.0.1");
  fault = to;
}

let port = 0;
server.listen(0, "127.0.0.1", () => {
  if (port !== 0) return;
  port = server.address().port;
  process.send({ url: `http://127.0.0.1:${port}/beta` });
});
process.on("message", (message) => {
  if ("fault" in message) change(message.fault);
  if (!message.report) return;
  process.send({ ...counts, open: sockets.size });
  counts.most = 0;
});
process.on("disconnect", () => process.exit(0));
