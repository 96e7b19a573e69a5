// The server all clients are measured against: parses a message, writes a canned answer. Over HTTP when BENCH_HTTP is set.
import { createServer } from 'node:http';
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

function serveHttp() {
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
    let body = '';
    request.setEncoding('utf8').on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const text = answerTo(JSON.parse(body));
      if (text === undefined) return response.writeHead(202).end();
      response.writeHead(200, {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(text),
        'Mcp-Session-Id': 'the-only-one',
      });
      response.end(text);
    });
  });
  process.once('disconnect', () => process.exit());
  server.listen(0, '127.0.0.1', () => listening(/** @type {any} */ (server.address()).port));
}

if (process.env.BENCH_HTTP === '1') serveHttp();
else serveStdio();
