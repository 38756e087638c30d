// A server that answers every lookup at once from raw sockets: far faster than any client, so that
// the client is what is measured. Runs as a separate process; prints its address, then serves.
//
// With a limit it throttles by a token bucket, and a share of the rest at random. On SIGTERM it writes when
// each request arrived and whether it was admitted to the file of --record.
//
//   node test/bench/instant-server.mjs [--latency MS] [--record FILE] [--limit N --bucket N]
//   [--noise SHARE] [--retry-after SECONDS]
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    latency: { type: "string", default: "0" },
    record: { type: "string" },
    limit: { type: "string", default: "Infinity" },
    bucket: { type: "string", default: "1" },
    noise: { type: "string", default: "0" },
    "retry-after": { type: "string" },
  },
});
const latency = Number(values.latency);
const [limit, bucket, noise] = [values.limit, values.bucket, values.noise].map(Number);
const wait = values["retry-after"] === undefined ? "" : `retry-after: ${values["retry-after"]}\r\n`;
const refused = `HTTP/1.1 429 Too Many Requests\r\n${wait}content-length: 0\r\n\r\n`;

/** Milliseconds from the start, negative for requests that were throttled. */
const arrivals = [];
let tokens = bucket;
let filledAt = 0;

/** Whether a request is within the limit. */
function admit() {
  const now = performance.now();
  if (limit < Infinity) tokens = Math.min(bucket, tokens + ((now - filledAt) * limit) / 1000);
  filledAt = now;
  const isAdmitted = tokens >= 1 && !(Math.random() < noise);
  if (tokens >= 1 && limit < Infinity) tokens--;
  arrivals.push(isAdmitted ? now : -now);
  return isAdmitted;
}

const queryTail =
  '","serviceMailBlocklist":"NOT_LISTED","type":"IP","bogon":false,"tags":["scanner:port-scan"],' +
  '"firstSeen":"2025-01-01T00:00:00Z","lastSeen":"2026-01-01T00:00:00Z","intent":"suspicious",' +
  '"reverseDns":{"current":[{"entry":"host.example.net"}]},"abuseContact":{"email":"abuse@example.net",' +
  '"status":"WORKING","lastVerification":"2025-12-01T00:00:00Z"},"asn":{"countryCode":"DE",' +
  '"asn":"AS64496","name":"Example Networks"},"observedActivity":{"honeypotInteractions":' +
  '{"firstSeen":null,"lastSeen":null,"observations":[]},"spamtrapInteractions":{"firstSeen":null,' +
  '"lastSeen":null,"observations":[]}}}}';
const quickTail =
  '","serviceMailBlocklist":"NOT_LISTED","type":"IP","bogon":false,"intent":"suspicious","activity":false}}';
const head = '{"status":"success","statusCode":200,"result":{"item":"';

const server = createServer((socket) => {
  socket.setNoDelay(true);
  let rest = "";
  socket.on("data", (chunk) => {
    const text = rest + chunk.toString("latin1");
    let answers = "";
    let start = 0;
    for (;;) {
      const end = text.indexOf("\r\n\r\n", start);
      if (end < 0) break;
      const isAdmitted = values.record === undefined || admit();
      answers += isAdmitted ? answerTo(text.slice(start, text.indexOf(" HTTP/", start))) : refused;
      start = end + 4;
    }
    rest = text.slice(start);
    if (answers === "") return;
    if (latency === 0) socket.write(answers, "latin1");
    else answerLater(socket, answers);
  });
  socket.on("error", () => socket.destroy());
});

/** Delayed answers in order of their time. All have the same delay. */
const waiting = [];

/**
 * A timer per answer would fire 1 ms late or more. This one ticks every millisecond and also sends
 * answers that are almost due, as early as earlier ones were late, so that the average delay is
 * exact.
 */
function answerLater(socket, answers) {
  waiting.push({ socket, answers, dueAt: performance.now() + latency });
  if (waiting.length === 1) setTimeout(tick, 1);
}

/** How early answers may be sent, in milliseconds: at most two ticks. */
let early = 0.5;
const earliest = 2;

function tick() {
  const soon = performance.now() + Math.min(latency, early);
  let due = 0;
  while (due < waiting.length && waiting[due].dueAt <= soon) due++;
  for (const { socket, answers, dueAt } of waiting.splice(0, due)) {
    const late = performance.now() - dueAt;
    // A very late tick means a busy machine and says nothing about timers.
    if (late < earliest) early = Math.min(earliest, Math.max(0, early + late / 1000));
    socket.write(answers, "latin1");
  }
  if (waiting.length > 0) setTimeout(tick, 1);
}

function answerTo(request) {
  const item = decodeURIComponent(request.slice(request.lastIndexOf("/") + 1));
  const body = head + item + (request.includes("/quick-check/") ? quickTail : queryTail);
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}/beta\n`);
});
process.on("SIGTERM", () => {
  if (values.record !== undefined) writeFileSync(values.record, JSON.stringify(arrivals));
  process.exit(0);
});
