// Reference: passes messages between a client and one server and checks nothing. BENCH_FRONT and BENCH_BACK say over what,
// stdio or http. A gateway must do this at least: requests get ids of their own towards a server on stdio, where the ids of
// several clients would meet; over HTTP each request and its response are one exchange, and ids stay as they are.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { Agent, createServer, request as httpRequest } from 'node:http';
import { fastServer } from '../clients/target.mjs';
import { listening } from './control.mjs';

const { BENCH_FRONT: front, BENCH_BACK: back } = process.env;
const newline = 0x0a;
const passedOn = ['content-type', 'accept', 'mcp-protocol-version', 'mcp-session-id', 'mcp-method', 'mcp-name'];

/** Calls `onLine` for each line of a stream, and `onEnd` after those of one chunk. @param {import('node:stream').Readable} stream @param {(line: string) => void} onLine @param {() => void} onEnd */
function readLines(stream, onLine, onEnd) {
  /** @type {Buffer[]} */
  let begun = [];
  stream.on('data', (/** @type {Buffer} */ chunk) => {
    let from = 0;
    for (let to = chunk.indexOf(newline); to >= 0; to = chunk.indexOf(newline, from)) {
      begun.push(chunk.subarray(from, to));
      from = to + 1;
      onLine(begun.length === 1 ? begun[0].toString() : Buffer.concat(begun).toString());
      begun = [];
    }
    if (from < chunk.length) begun.push(chunk.subarray(from));
    onEnd();
  });
}

/** Lines of one turn are one write. @param {import('node:stream').Writable} stream */
function lineWriter(stream) {
  let lines = '';
  return {
    add: (/** @type {object} */ message) => {
      lines += `${JSON.stringify(message)}\n`;
    },
    flush: () => {
      if (lines !== '') stream.write(lines);
      lines = '';
    },
  };
}

/** The server behind, on stdio. Requests that came in one turn leave in one write. */
async function openServer() {
  const { argv = [] } = await fastServer('stdio');
  const { stdin, stdout } = spawn(argv[0], argv.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
  const writer = lineWriter(stdin);
  /** @type {Map<number, (response: any) => void>} */
  const waiting = new Map();
  let lastId = 0;
  let isDue = false;
  const flush = () => {
    isDue = false;
    writer.flush();
  };
  let afterResponses = () => {};
  readLines(
    stdout,
    (line) => {
      const response = JSON.parse(line);
      const respond = waiting.get(response.id);
      waiting.delete(response.id);
      respond?.(response);
    },
    () => afterResponses(),
  );
  return {
    /** @param {any} message @param {(response: any) => void} respond */
    send(message, respond) {
      if (message.id !== undefined) waiting.set(++lastId, respond);
      writer.add(message.id === undefined ? message : { ...message, id: lastId });
      if (isDue) return;
      isDue = true;
      queueMicrotask(flush);
    },
    /** Calls it after the responses of each chunk. @param {() => void} call */
    onChunk(call) {
      afterResponses = call;
    },
  };
}

async function stdioToStdio() {
  const server = await openServer();
  const writer = lineWriter(process.stdout);
  server.onChunk(writer.flush);
  readLines(
    process.stdin,
    (line) => {
      const message = JSON.parse(line);
      server.send(message, (response) => writer.add({ ...response, id: message.id }));
    },
    () => {},
  );
  process.stdin.on('end', () => process.exit());
}

/** @param {(request: import('node:http').IncomingMessage, body: string, response: import('node:http').ServerResponse) => void} handle */
function listen(handle) {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => handle(request, body, response));
  });
  server.listen(0, '127.0.0.1', () => listening(/** @type {any} */ (server.address()).port));
}

async function httpToHttp() {
  const { url = '' } = await fastServer('http');
  const agent = new Agent({ keepAlive: true });
  listen((request, body, response) => {
    /** @type {Record<string, string | number>} */
    const headers = { 'Content-Length': Buffer.byteLength(body) };
    for (const name of passedOn) {
      const value = request.headers[name];
      if (typeof value === 'string') headers[name] = value;
    }
    const outgoing = httpRequest(url, { method: 'POST', headers, agent }, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8');
      incoming.on('data', (chunk) => {
        text += chunk;
      });
      incoming.on('end', () => {
        const { 'content-type': type, 'mcp-session-id': session } = incoming.headers;
        response.writeHead(incoming.statusCode ?? 500, {
          ...(type !== undefined && { 'Content-Type': type }),
          ...(session !== undefined && { 'Mcp-Session-Id': session }),
          'Content-Length': Buffer.byteLength(text),
        });
        response.end(text);
      });
    });
    outgoing.end(body);
  });
}

async function httpToStdio() {
  const server = await openServer();
  listen((_, body, response) => {
    const message = JSON.parse(body);
    const respond = (/** @type {any} */ answer) => {
      const text = JSON.stringify({ ...answer, id: message.id });
      response.writeHead(200, {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(text),
        ...(message.method === 'initialize' && { 'Mcp-Session-Id': randomUUID() }),
      });
      response.end(text);
    };
    server.send(message, respond);
    if (message.id === undefined) response.writeHead(202).end();
  });
}

if (front === 'stdio') await stdioToStdio();
else await (back === 'stdio' ? httpToStdio() : httpToHttp());
