// A server on raw sockets with precomputed answers that records when each request arrived, and
// throttles by a token bucket if given a limit. Runs as a separate process: prints its address,
// serves, and on SIGTERM writes its record to the file of --record.
//
//   node test/bench/limited-server.mjs --record FILE [--latency MS] [--limit N [--burst N]
//   [--later N --after SECONDS] [--status 429|503]] [--header 'Name: value']
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    record: { type: "string" },
    latency: { type: "string", default: "0" },
    limit: { type: "string", default: "Infinity" },
    burst: { type: "string", default: "15" },
    later: { type: "string" },
    after: { type: "string", default: "Infinity" },
    status: { type: "string", default: "429" },
    header: { type: "string" },
  },
});
const latency = Number(values.latency);
const burst = Number(values.burst);

const tail =
  '","serviceMailBlocklist":"NOT_LISTED","type":"IP","bogon":false,"intent":"suspicious","activity":false}}';
const head = '{"status":"success","statusCode":200,"result":{"item":"';
const asked = values.header === undefined ? "" : `${values.header}\r\n`;
const refused = `HTTP/1.1 ${values.status} Slow down\r\n${asked}content-length: 0\r\n\r\n`;

/** Milliseconds since the first request, and whether it was admitted. */
const arrivals = [];
const passed = [];
let firstAt = null;
let tokens = burst;
let filledAt = 0;

function admit(now) {
  const since = (now - (firstAt ??= now)) / 1000;
  const limit = Number(since < Number(values.after) ? values.limit : values.later);
  tokens = limit === Infinity ? burst : Math.min(burst, tokens + ((now - filledAt) * limit) / 1000);
  filledAt = now;
  const ok = tokens >= 1;
  if (ok) tokens--;
  arrivals.push(now - firstAt);
  passed.push(ok);
  return ok;
}

const server = createServer((socket) => {
  socket.setNoDelay(true);
  let rest = "";
  socket.on("data", (chunk) => {
    const now = performance.now();
    const text = rest + chunk.toString("latin1");
    let answers = "";
    let start = 0;
    for (;;) {
      const end = text.indexOf("\r\n\r\n", start);
      if (end < 0) break;
      const path = text.slice(start, text.indexOf(" HTTP/", start));
      answers += admit(now) ? answerTo(path) : refused;
      start = end + 4;
    }
    rest = text.slice(start);
    if (answers === "") return;
    if (latency === 0) socket.write(answers, "latin1");
    else setTimeout(() => socket.write(answers, "latin1"), latency);
  });
  socket.on("error", () => socket.destroy());
});

function answerTo(path) {
  const item = decodeURIComponent(path.slice(path.lastIndexOf("/") + 1));
  const length = head.length + item.length + tail.length;
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${head}${item}${tail}`;
}

server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}/beta\n`);
});
process.on("SIGTERM", () => {
  writeFileSync(values.record, JSON.stringify({ arrivals, passed }));
  process.exit(0);
});
