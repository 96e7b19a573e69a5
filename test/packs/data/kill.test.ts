// kill -9 at random moments while several connections add notes and count: nothing that was acknowledged is lost,
// nothing is there twice, nothing is torn. A full run has a hundred rounds, and
// MOORING_KILL_ROUNDS asks for another number.

import { createHash, randomBytes, randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { isFullRun } from '../../support/full.ts';
import { type Answer, ServerProcess, useCommand } from '../../support/server-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

useCommand();

const rounds = Number(process.env['MOORING_KILL_ROUNDS'] ?? (isFullRun ? 100 : 12));
const atOnce = 2;
const connections = 4;

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A server on a folder, and one session on it. */
class Life {
  readonly process: ServerProcess;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: connections });
  #port = 0;
  #session = '';

  constructor(folder: string) {
    this.process = new ServerProcess(['serve', 'reference', '--http', '--port', '0', '--data', folder]);
  }

  async open(): Promise<this> {
    this.#port = Number(await this.process.until(() => /listening on \S+:(\d+)\//.exec(this.process.stderr)?.[1]));
    await this.request('initialize', { protocolVersion: '2024-11-05' });
    return this;
  }

  /** Rejects when the server dies before it has answered in full. */
  request(method: string, params: object): Promise<Answer> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: randomInt(2 ** 32), method, params });
    const headers = {
      'Content-Type': 'application/json',
      ...(this.#session === '' ? {} : { 'X-Session-ID': this.#session }),
    };
    return new Promise((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port: this.#port,
        path: '/mcp',
        method: 'POST',
        headers,
        agent: this.#agent,
      };
      const sent = request(options, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('error', reject);
        response.on('end', () => {
          if (!response.complete) return reject(new Error('cut off'));
          this.#session ||= String(response.headers['x-session-id']);
          resolve(JSON.parse(text));
        });
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  async call(name: string, args: object): Promise<string> {
    const { result, error } = await this.request('tools/call', { name, arguments: args });
    if (error !== undefined || result.isError) throw new Error(JSON.stringify(error ?? result));
    return result.content[0].text;
  }

  async kill(): Promise<void> {
    await this.process.kill();
    this.#agent.destroy();
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Ledger {
  readonly sent: Set<string>;
  readonly acknowledged: Map<string, string>;
  counted: number;
  countsSent: number;
}

/** Text that shows whether it is whole: random, of any length, with its own digest. */
function newContent(): string {
  const body = randomBytes(randomInt(1, 3000)).toString('base64');
  return `${digest(body)} ${body}`;
}

const digest = (body: string): string => createHash('sha256').update(body).digest('hex').slice(0, 16);

/** Adds notes one after another until the server is gone. */
async function write(life: Life, ledger: Ledger, tag: string): Promise<void> {
  try {
    for (;;) {
      if (randomInt(4) === 0) {
        ledger.countsSent++;
        await life.call('increment_counter', {});
        ledger.counted++;
        continue;
      }
      const content = newContent();
      ledger.sent.add(content);
      const answer = await life.call('add_note', { content, tags: [tag] });
      ledger.acknowledged.set(content, answer.replace(/^Note (\d+) added$/, '$1'));
    }
  } catch (error) {
    if (
      life.process.process.exitCode === null &&
      life.process.process.signalCode === null &&
      !life.process.process.killed
    ) {
      throw error;
    }
  }
}

async function check(
  life: Life,
  ledger: Ledger,
  tag: string,
  counts: { counted: number; sent: number },
): Promise<void> {
  const { notes } = JSON.parse(await life.call('get_notes', { tags: [tag] })) as {
    notes: { id: string; content: string; tags: string[] }[];
  };
  const found = new Map(notes.map((note) => [note.content, note.id]));
  expect(found.size, 'a note is there twice').toBe(notes.length);
  for (const { content } of notes) {
    const [sum, body] = content.split(' ');
    expect(digest(body as string), 'a note is torn').toBe(sum);
    expect(ledger.sent.has(content), 'a note that was not sent').toBe(true);
  }
  for (const [content, id] of ledger.acknowledged) expect(found.get(content), 'an acknowledged note is lost').toBe(id);
  const { result } = await life.request('resources/read', { uri: 'server://counter' });
  const counter = Number(result.contents[0].text);
  expect(counter).toBeGreaterThanOrEqual(counts.counted);
  expect(counter).toBeLessThanOrEqual(counts.sent);
}

async function killRepeatedly(rounds: number): Promise<number> {
  const folder = temporaryFolder();
  folders.push(folder);
  const counts = { counted: 0, sent: 0 };
  let before: { ledger: Ledger; tag: string } | undefined;
  let acknowledged = 0;
  const first = randomInt(0, 9);
  for (let round = 0; round <= rounds; round++) {
    const life = await new Life(folder).open();
    if (before !== undefined) await check(life, before.ledger, before.tag, counts);
    if (round === rounds) {
      await life.kill();
      break;
    }
    const ledger: Ledger = { sent: new Set(), acknowledged: new Map(), counted: 0, countsSent: 0 };
    const tag = `round ${round}`;
    const writers = Array.from({ length: connections }, () => write(life, ledger, tag));
    // At any moment, counted in what was done rather than in time: a busy machine does less in the same time.
    // From 0 to 8, and among any six rounds some of each: by chance alone, all of them may be early.
    const enough = (first + round * 5) % 9;
    for (let waited = 0; ledger.acknowledged.size < enough && waited < 5_000; waited += 2) await pause(2);
    await pause(randomInt(0, 25));
    await Promise.all([life.kill(), ...writers]);
    counts.counted += ledger.counted;
    counts.sent += ledger.countsSent;
    acknowledged += ledger.acknowledged.size;
    before = { ledger, tag };
  }
  return acknowledged;
}

test(`${rounds} times kill -9: nothing acknowledged is lost, doubled or torn`, {
  timeout: 120_000 + rounds * 5_000,
}, async () => {
  const acknowledged = await Promise.all(
    Array.from({ length: atOnce }, () => killRepeatedly(Math.ceil(rounds / atOnce))),
  );
  // Rounds in which nothing was written would prove nothing.
  for (const each of acknowledged) expect(each).toBeGreaterThan(rounds);
});
