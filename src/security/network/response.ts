// The response as the caller sees it: status, headers and a body that can be read once.

import type { IncomingMessage } from 'node:http';
import { JoinedBytes } from '../../common/joined-bytes.ts';
import { toBuffer } from '../../common/to-buffer.ts';
import { readBody } from './body.ts';
import { fromNode, networkErrors } from './errors.ts';
import { hostOf } from './policy.ts';

/** A response. Read its body or discard it; otherwise the time limit closes the connection. */
export interface FetchedResponse {
  /** The HTTP status; one that is not 2xx does not throw. */
  readonly status: number;
  /** The headers of the response. */
  readonly headers: Headers;
  /** The address of the response, after redirects. */
  readonly url: string;
  /** Whether a redirect was followed. */
  readonly redirected: boolean;
  /** The decompressed body. Throws if it exceeds `maxBytes`. */
  bytes(): Promise<Buffer>;
  /** The body as text in the charset of the response, by default UTF-8. */
  text(): Promise<string>;
  /** The body, parsed. Throws for a body that is not JSON. */
  json(): Promise<unknown>;
  /** The decompressed body as it arrives. Ending the loop early closes the connection. */
  stream(): AsyncIterable<Buffer>;
  /** Closes the connection without reading the body. */
  discard(): void;
}

interface ResponseOptions {
  readonly url: URL;
  readonly maxBytes: number;
  readonly maxHeaderBytes: number;
  readonly deadline: { readonly signal: AbortSignal; clear(): void };
  readonly accept?: readonly string[];
  readonly redirected: boolean;
}

/** Wraps the last response. Throws if the caller does not accept its type. */
export function openResponse(message: IncomingMessage, opening: ResponseOptions): FetchedResponse {
  const { url, deadline } = opening;
  const status = message.statusCode ?? 0;
  const headers = new Headers();
  for (let index = 0; index + 1 < message.rawHeaders.length; index += 2) {
    headers.append(message.rawHeaders[index] as string, message.rawHeaders[index + 1] as string);
  }
  const type = headers.get('content-type') ?? '';
  if (opening.accept !== undefined && status >= 200 && status < 300 && !isAccepted(type, opening.accept)) {
    throw networkErrors.badResponse(`content type "${type}" was not requested`);
  }
  let read = false;
  const stream = async function* (): AsyncGenerator<Buffer, void, undefined> {
    if (read) throw networkErrors.badRequest('the body has already been read');
    read = true;
    try {
      deadline.signal.throwIfAborted();
      yield* readBody(message, opening.maxBytes);
      // A body without a length ends with the connection, even if our time limit ended it.
      deadline.signal.throwIfAborted();
    } catch (error) {
      throw deadline.signal.aborted ? deadline.signal.reason : fromNode(error, hostOf(url), opening.maxHeaderBytes);
    } finally {
      deadline.clear();
      message.destroy();
    }
  };
  const bytes = async (): Promise<Buffer> => {
    const body = new JoinedBytes();
    for await (const chunk of stream()) body.add(chunk);
    return toBuffer(body.join());
  };
  const text = async (): Promise<string> => decoderFor(type).decode(await bytes());
  return {
    status,
    headers,
    url: url.href,
    redirected: opening.redirected,
    bytes,
    text,
    async json() {
      const body = await text();
      try {
        return JSON.parse(body) as unknown;
      } catch (error) {
        throw networkErrors.badResponse('not JSON', error);
      }
    },
    stream,
    discard() {
      deadline.clear();
      message.destroy();
    },
  };
}

function isAccepted(type: string, accept: readonly string[]): boolean {
  const essence = (type.split(';')[0] as string).trim().toLowerCase();
  return accept.some((wanted) => {
    const pattern = (wanted.split(';')[0] as string).trim().toLowerCase();
    return (
      pattern === '*/*' || pattern === essence || (pattern.endsWith('/*') && essence.startsWith(pattern.slice(0, -1)))
    );
  });
}

function decoderFor(type: string): TextDecoder {
  const charset = /;\s{0,8}charset\s{0,8}=\s{0,8}"?([\w.:-]{1,40})/i.exec(type)?.[1];
  try {
    return new TextDecoder(charset ?? 'utf-8');
  } catch {
    return new TextDecoder(); // Unknown charset: decoding it as UTF-8 shows at least the ASCII part.
  }
}
