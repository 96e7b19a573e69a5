// What the tests of profile `system` share: a client with it, answers to its questions, a look at processes.

import { execFileSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import type { Settings } from '../../../src/app/settings/settings.ts';
import { assemble } from '../../support/profile.ts';
import { ensureProgram } from '../../support/programs.ts';
import { type Message, TestClient } from '../../support/test-client.ts';

/** True where the sandbox can hold. */
export const haveSandbox = ensureProgram('bwrap') && ensureProgram('prlimit');

export const old = '2024-11-05';

/** Options of packs that keep tests away from the buses of this machine. */
export const noBus = { dbus: { buses: [] } };

export async function open(changes: Partial<Settings> = {}, capabilities: object = {}) {
  const { server } = await assemble('system', { packs: noBus, ...changes });
  return { server, client: await TestClient.open(server, old, capabilities) };
}

export const uriOf = (path: string): string => pathToFileURL(path).href;

/** The text of a tool result. */
export const texts = ({ result }: Message): string =>
  result.content.map((each: { text: string }) => each.text).join('');

const answered = new WeakSet<object>();

/** Answers one question of the server and says which it was. */
export async function answer(client: TestClient, method: string, result: object): Promise<Message> {
  const question = await client.next((each) => each.method === method && !answered.has(each));
  answered.add(question);
  client.send({ jsonrpc: '2.0', id: question.id, result });
  return question;
}

/** Processes of this machine whose command line holds the words. */
export const processes = (words: string): number =>
  Number(execFileSync('sh', ['-c', `ps -eo args | grep -c -- "[${words[0]}]${words.slice(1)}" || true`]).toString());
