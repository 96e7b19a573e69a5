// The server all clients are measured against: parses a message, writes a canned answer. Over HTTP when BENCH_HTTP is set.
import { createServer } from 'node:net';
import { answer } from '../servers/bare-answer.mjs';
import { listening } from '../servers/control.mjs';

/** Some clients use texts as ids; the canned answer writes what it is given. @param {any} message */
const answerTo = (message) =>
  answer({ ...message, id: message.id === undefined ? undefined : JSON.stringify(message.id) });

function serveStdio() {
  let rest = '';
  process.stdin.setEncoding('utf8').on('data', (/** @type {string} */ chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    let out = '';
    for (const line of lines) {
      const text = answerTo(JSON.parse(line));
      if (text !== undefined) out += `${text}\n`;
    }
    if (out !== '') process.stdout.write(out);
  });
}

/**
 * HTTP without node:http, which would cost more than what is measured: a client that waits for its server sleeps between
 * two calls, and a process that is woken for each call needs more CPU than one that is not.
 */
function serveHttp() {
  const server = createServer((socket) => {
    let rest = '';
    socket.setNoDelay();
    socket.on('error', () => socket.destroy());
    socket.setEncoding('latin1').on('data', (/** @type {string} */ chunk) => {
      rest += chunk;
      let out = '';
      for (let next = cut(rest); next !== undefined; next = cut(rest)) {
        rest = rest.slice(next.length);
        out += respond(next.method, next.body);
      }
      if (out !== '') socket.write(out);
    });
  });
  process.once('disconnect', () => process.exit());
  server.listen(0, '127.0.0.1', () => listening(/** @type {any} */ (server.address()).port));
}

/** The first request of a text, if all of it is there. @param {string} text */
function cut(text) {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const length = end + 4 + Number(/\r\ncontent-length: *(\d+)/i.exec(text.slice(0, end))?.[1] ?? 0);
  if (text.length < length) return undefined;
  return { method: text.slice(0, text.indexOf(' ')), body: text.slice(end + 4, length), length };
}

/** @param {string} method @param {string} body */
function respond(method, body) {
  if (method !== 'POST')
    return `HTTP/1.1 ${method === 'DELETE' ? '200 OK' : '405 Not Allowed'}\r\nContent-Length: 0\r\n\r\n`;
  const text = answerTo(JSON.parse(body));
  if (text === undefined) return 'HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n';
  return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\nMcp-Session-Id: the-only-one\r\n\r\n${text}`;
}

if (process.env.BENCH_HTTP === '1') serveHttp();
else serveStdio();
