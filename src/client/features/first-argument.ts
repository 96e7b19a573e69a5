// What the first argument of a method must be. The official SDK takes one object instead, and without a name or URI the
// request would not be JSON.

import { clientErrors } from '../errors.ts';

const methods = {
  callTool: ['the name of a tool', 'client.callTool("name", { … }, options)'],
  'tasks.start': ['the name of a tool', 'client.tasks.start("name", { … }, options)'],
  getPrompt: ['the name of a prompt', 'client.getPrompt("name", { … }, options)'],
  readResource: ['the URI of a resource', 'client.readResource("file:///notes.txt", options)'],
  subscribe: ['the URI of a resource', 'client.subscribe("file:///notes.txt", options)'],
  unsubscribe: ['the URI of a resource', 'client.unsubscribe("file:///notes.txt")'],
  request: ['the name of a method', 'client.request("method", { … }, options)'],
  notify: ['the name of a method', 'client.notify("method", { … })'],
} as const;

/** Throws if the first argument of a method of the client is no string. */
export function requireText(method: keyof typeof methods, value: unknown): void {
  if (typeof value === 'string') return;
  const [what, call] = methods[method];
  const given = value === undefined ? 'it is missing' : `not ${value === null ? 'null' : `of type ${typeof value}`}`;
  throw clientErrors.configuration(
    `The first argument of ${method} must be ${what}, a string${value === undefined ? '; ' : ', '}${given}: ${call}`,
  );
}
