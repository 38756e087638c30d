// The limit of the service: pipelined requests over raw sockets; answers are counted, not parsed.
//
//   node test/bench/peers/raw.mjs URL ITEMS CONNECTIONS DEPTH
import { connect } from "node:net";

const [url, items, connections, depth] = process.argv.slice(2);
const { hostname, port, pathname } = new URL(url);
const request = `GET ${pathname}/query/198.18.0.1 HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`;
let unsent = Number(items);
/** Bytes of an answer, equal for all since the item is. Known after the first answer. */
let answerBytes = 0;

await Promise.all(Array.from({ length: Number(connections) }, converse));

/** Keeps `depth` requests in flight on one connection until all are answered. */
function converse() {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let open = 0;
    let bytes = 0;
    const send = () => {
      const count = Math.min(unsent, Number(depth));
      unsent -= count;
      open = count;
      if (count > 0) socket.write(request.repeat(count), "latin1");
      else socket.end();
    };
    socket.on("connect", send).on("error", reject).on("close", resolve);
    socket.on("data", (chunk) => {
      answerBytes ||= lengthOfFirst(chunk);
      bytes += chunk.length;
      if (bytes < open * answerBytes) return;
      bytes = 0;
      send();
    });
  });
}

function lengthOfFirst(chunk) {
  const [head] = chunk.toString("latin1").split("\r\n\r\n", 1);
  const [, status, length] = /^HTTP\/1\.1 (\d+) [^]*content-length: (\d+)/.exec(head);
  if (status !== "200") throw new Error(`HTTP ${status}`);
  return head.length + 4 + Number(length);
}
