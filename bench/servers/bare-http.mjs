// Reference: node:http, JSON.parse, canned answer as JSON, or with BENCH_SHAPE=sse as one event. Sessions are a Set.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { answer } from './bare-answer.mjs';
import { listening, onChange } from './control.mjs';

const asEvent = process.env.BENCH_SHAPE === 'sse';
const acknowledged = '{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"}';
const changed = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
/** @type {Set<string>} */
const sessions = new Set();
/** @type {Set<import('node:http').ServerResponse>} */
const streams = new Set();

/** @param {import('node:http').ServerResponse} response */
function keepOpen(response) {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  response.flushHeaders();
  streams.add(response);
  response.on('close', () => streams.delete(response));
}

/** @param {import('node:http').ServerResponse} response @param {string} body */
function respond(response, body) {
  const message = JSON.parse(body);
  if (message.method === 'subscriptions/listen') {
    keepOpen(response);
    response.write(`data: ${acknowledged}\n\n`);
    return;
  }
  const text = answer(message);
  if (text === undefined) return response.writeHead(202).end();
  if (message.method === 'initialize') {
    const id = randomUUID();
    sessions.add(id);
    response.setHeader('Mcp-Session-Id', id);
  }
  if (asEvent) return response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(`data: ${text}\n\n`);
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }).end(text);
}

const server = createServer((request, response) => {
  if (request.method === 'GET') return keepOpen(response);
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => respond(response, body));
});

onChange(() => {
  for (const stream of streams) stream.write(`data: ${changed}\n\n`);
});
server.listen(0, '127.0.0.1', () => listening(/** @type {any} */ (server.address()).port));
