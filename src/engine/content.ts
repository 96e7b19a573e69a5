// Content blocks of results and prompt messages, without writing out their shape.

import { toBase64 } from '../common/base64url.ts';
import type { Annotations, AudioContent, ImageContent, ResourceLink, TextContent } from '../protocol/model.ts';

/** What every block may have besides its content: for whom it is meant, and how important it is. */
export interface ContentOptions {
  /** Who it is for, and how much it matters. */
  readonly annotations?: Annotations;
}

/** A block of text. */
export function text(value: string, options?: ContentOptions): TextContent {
  if (typeof value !== 'string') {
    throw new TypeError(`text() needs a string, not ${nameOf(value)}; write json(value) or text(String(value))`);
  }
  return { type: 'text', text: value, ...options };
}

/**
 * A value as JSON in a block of text. A handler that returns nothing else can return the value itself: the client then
 * gets it as structured content too.
 */
export function json(value: unknown, options?: ContentOptions): TextContent {
  const encoded = JSON.stringify(value);
  if (encoded === undefined) throw new TypeError(`A value of type ${typeof value} cannot be represented in JSON`);
  return text(encoded, options);
}

/** An image: its bytes or their base64, and its type, such as `image/png`. */
export function image(data: Uint8Array | string, mimeType: string, options?: ContentOptions): ImageContent {
  return { type: 'image', data: base64(data, mimeType, 'image'), mimeType, ...options };
}

/** Sound: its bytes or their base64, and its type, such as `audio/wav`. */
export function audio(data: Uint8Array | string, mimeType: string, options?: ContentOptions): AudioContent {
  return { type: 'audio', data: base64(data, mimeType, 'audio'), mimeType, ...options };
}

/** A link to a resource, which the client may read. The name defaults to the last part of the URI. */
export function resourceLink(uri: string, options: Partial<Omit<ResourceLink, 'type' | 'uri'>> = {}): ResourceLink {
  return { type: 'resource_link', uri, name: uri.split('/').findLast((part) => part !== '') ?? uri, ...options };
}

/** A path or a data URL is not base64; the beginning of the text shows that. */
const base64Start = /^[\w+/=\s-]*$/;

function base64(data: Uint8Array | string, mimeType: string, kind: 'image' | 'audio'): string {
  const example = `${kind}(await readFile("file"), "${kind === 'image' ? 'image/png' : 'audio/wav'}")`;
  if (typeof mimeType !== 'string') throw new TypeError(`${kind}() needs a type after the bytes: ${example}`);
  if (typeof data !== 'string' && !(data instanceof Uint8Array)) {
    const remedy = (data as unknown) instanceof ArrayBuffer ? 'new Uint8Array(buffer)' : example;
    throw new TypeError(`${kind}() needs a Uint8Array or base64, not ${nameOf(data)}; write ${remedy}`);
  }
  if (typeof data === 'string' && !base64Start.test(data.slice(0, 64))) {
    throw new TypeError(`${kind}() needs bytes or base64, not ${JSON.stringify(data.slice(0, 40))}; write ${example}`);
  }
  if (!mimeType.startsWith(`${kind}/`)) {
    throw new TypeError(`The type of an ${kind} block starts with "${kind}/", not ${JSON.stringify(mimeType)}`);
  }
  return typeof data === 'string' ? data : toBase64(data);
}

function nameOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  return typeof value === 'object'
    ? `an object (${value.constructor?.name ?? 'without a class'})`
    : `a ${typeof value}`;
}
