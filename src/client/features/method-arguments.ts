// What the first two arguments of a method must be. The official SDK takes one object instead, and with other values the request
// would not be JSON.

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

/** Throws if the first argument of a method of the client is no string, or the second one neither an object nor left out. */
export function requireArguments(method: keyof typeof methods, value: unknown, second?: unknown): void {
  const [what, call] = methods[method];
  if (typeof value === 'string') {
    if (second === undefined || (typeof second === 'object' && second !== null && !Array.isArray(second))) return;
    const kind = Array.isArray(second) ? 'an array' : notText(second);
    throw clientErrors.configuration(`The second argument of ${method} must be an object, not ${kind}: ${call}`);
  }
  const given = value === undefined ? 'it is missing' : `not ${notText(value)}`;
  throw clientErrors.configuration(
    `The first argument of ${method} must be ${what}, a string${value === undefined ? '; ' : ', '}${given}: ${call}`,
  );
}

const notText = (value: unknown): string => (value === null ? 'null' : `of type ${typeof value}`);
