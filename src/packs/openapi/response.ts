// The result of a tool, made of the response of the API.

import { capText, cleanText, textLimits } from '../../common/hygiene.ts';
import { UserError } from '../../common/user-error.ts';
import { audio, image, text } from '../../engine/content.ts';
import { WireError } from '../../protocol/errors.ts';
import { isObject, parseMessage } from '../../protocol/json-rpc.ts';
import type { FetchedResponse } from '../../security/network/fetcher.ts';

/** Values of a response that are also structured content; more of them are only text. */
const jsonLimits = { maxDepth: 64, maxBatch: Number.POSITIVE_INFINITY };

/** `title`: of the operation. `hide`: removes credentials from a text. */
export async function toResult(
  title: string,
  response: FetchedResponse,
  hide: (text: string) => string,
): Promise<unknown> {
  const { status } = response;
  if (status < 200 || status >= 300) throw await failure(title, response, hide);
  const type = typeOf(response);
  const isText =
    type === '' || /[/+](?:json|xml|yaml)$|^text\/|^application\/(?:javascript|x-ndjson|jsonl|graphql)$/.test(type);
  if (isText) {
    const body = await response.text();
    if (body.trim() === '') return nothing(title, status);
    return /[/+]json$/.test(type) ? structured(body) : text(body);
  }
  const bytes = await response.bytes();
  if (bytes.length === 0) return nothing(title, status);
  if (type.startsWith('image/')) return image(bytes, type);
  if (type.startsWith('audio/')) return audio(bytes, type);
  const resource = { uri: addressOf(response), mimeType: type, blob: bytes.toString('base64') };
  return { content: [{ type: 'resource', resource }] };
}

const nothing = (title: string, status: number) => text(`${title} succeeded with status ${status}, without content`);

function typeOf({ headers }: FetchedResponse): string {
  const [type = ''] = (headers.get('content-type') ?? '').split(';');
  return cleanText(type, 'line', 100).toLowerCase();
}

/** Without the query, which may have credentials. */
function addressOf({ url }: FetchedResponse): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/**
 * The text as it came, with numbers that JavaScript would round. An object is structured content as well; never returned as it
 * is, since an API could make it look like a result of a tool.
 */
function structured(body: string): unknown {
  const value = parseMessage(body, jsonLimits);
  const isPlain = value instanceof WireError || !isObject(value);
  return { content: [text(body)], ...(isPlain ? {} : { structuredContent: value }) };
}

async function failure(title: string, response: FetchedResponse, hide: (text: string) => string): Promise<UserError> {
  const body = await beginningOf(response).catch(() => '');
  const visible = cleanText(hide(body), 'strip').trim();
  const reason = visible === '' ? '' : `: ${capText(visible, textLimits.maxErrorChars)}`;
  return new UserError(`${title} failed with status ${response.status}${reason}`);
}

/** Enough of a body to say what is wrong. */
async function beginningOf(response: FetchedResponse): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response.stream()) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > textLimits.maxErrorChars * 4) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}
