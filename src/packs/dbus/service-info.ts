// Describes a D-Bus service as JSON: the owner of the name, its objects, their interfaces and current properties. Only
// reads; a service that is not running is not started.

import type { Json } from '../../protocol/model.ts';
import { createRedactor } from '../../security/redact.ts';
import { type BusConnection, BusError, theBus } from './connection.ts';
import { type InterfaceDescription, parseIntrospection } from './introspection.ts';

/** Maximum number of objects; a service may have thousands (one per device, per unit). */
const maxObjects = 32;
const maxPathDepth = 8;
/** Characters of a description, after which it ends; stops a service with many large properties from filling the memory. */
const maxChars = 4 * 1024 * 1024;

/** Every object has these interfaces, so they say nothing about the service. */
const everyones = /^org\.freedesktop\.DBus\.(?:Introspectable|Peer|Properties|ObjectManager)$/;

const redactor = createRedactor();

export interface ServiceInfo {
  readonly service: string;
  readonly owner: string;
  readonly processId?: Json;
  readonly objects: { readonly [path: string]: { readonly [name: string]: Json } };
  /** There is more than described here. */
  readonly truncated: boolean;
}

/** Undefined when the name has no owner now. */
export async function describeService(
  bus: BusConnection,
  name: string,
  signal: AbortSignal,
): Promise<ServiceInfo | undefined> {
  const owner = await ownerOf(bus, name, signal);
  if (owner === undefined) return undefined;
  const processId = await optional(
    bus.call({ ...theBus, member: 'GetConnectionUnixProcessID', signature: 's', body: [name] }, signal),
    signal,
  );
  // The usual path first, then all objects from the root.
  const queue = [`/${name.replaceAll('.', '/')}`, '/'];
  const seen = new Set<string>();
  const objects: Record<string, { [name: string]: Json }> = {};
  const left = { chars: maxChars };
  let truncated = false;
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    if (seen.has(path)) continue;
    if (seen.size >= maxObjects || left.chars <= 0) {
      truncated = true;
      break;
    }
    seen.add(path);
    const { found, children, complete } = await describeObject(bus, name, path, left, signal);
    if (!complete) truncated = true;
    if (Object.keys(found).length > 0) objects[path] = found;
    const base = path === '/' ? '' : path;
    for (const child of children) {
      const below = `${base}/${child}`;
      if (below.split('/').length > maxPathDepth) truncated = true;
      else if (queue.length < maxObjects * 4) queue.push(below);
      else truncated = true;
    }
  }
  return {
    service: name,
    owner,
    ...(processId === undefined ? {} : { processId: processId[0] ?? null }),
    objects,
    truncated,
  };
}

/** The unique name behind a well-known one. */
export async function ownerOf(bus: BusConnection, name: string, signal?: AbortSignal): Promise<string | undefined> {
  try {
    const [owner] = await bus.call({ ...theBus, member: 'GetNameOwner', signature: 's', body: [name] }, signal);
    return typeof owner === 'string' ? owner : undefined;
  } catch (error) {
    if (error instanceof BusError && error.code === 'org.freedesktop.DBus.Error.NameHasNoOwner') return undefined;
    throw error;
  }
}

async function describeObject(
  bus: BusConnection,
  destination: string,
  path: string,
  left: { chars: number },
  signal: AbortSignal,
): Promise<{ found: { [name: string]: Json }; children: readonly string[]; complete: boolean }> {
  const introspect = { destination, path, interface: 'org.freedesktop.DBus.Introspectable', member: 'Introspect' };
  const answer = await optional(bus.call(introspect, signal), signal);
  if (typeof answer?.[0] !== 'string') return { found: {}, children: [], complete: true };
  const { interfaces, children } = parseIntrospection(answer[0]);
  const found: Record<string, Json> = {};
  for (const each of interfaces) {
    if (everyones.test(each.name)) continue;
    if (left.chars <= 0) return { found, children: [], complete: false };
    const description = await describeInterface(bus, destination, path, each, signal);
    left.chars -= each.name.length + JSON.stringify(description, undefined, 2).length;
    found[each.name] = description;
  }
  return { found, children: children.filter((child) => /^\w+(?:\/\w+)*$/.test(child)), complete: true };
}

async function describeInterface(
  bus: BusConnection,
  destination: string,
  path: string,
  { name, methods, signals, properties }: InterfaceDescription,
  signal: AbortSignal,
): Promise<Json> {
  const getAll = { destination, path, interface: 'org.freedesktop.DBus.Properties', member: 'GetAll' };
  const answer =
    properties.length === 0
      ? undefined
      : await optional(bus.call({ ...getAll, signature: 's', body: [name] }, signal), signal);
  return {
    ...(methods.length === 0 ? {} : { methods }),
    ...(signals.length === 0 ? {} : { signals }),
    // Services show network passwords and account tokens to their user; a model does not need them.
    ...(answer === undefined ? {} : { properties: redactor.redact(answer[0]) as Json }),
  };
}

/** An error of one object does not hide the others; the end of the call or of the bus does. */
async function optional<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (signal.aborted || !(error instanceof BusError) || error.code === 'closed') throw error;
    return undefined;
  }
}
