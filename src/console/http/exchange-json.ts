// Bodies of requests to the console's API, and its responses.

import { parseJson } from '../../common/parse-json.ts';
import type { ConsoleExchange } from '../contract.ts';
import { ConsoleError } from './console-error.ts';
import { securityHeaders } from './static-files.ts';

/** Stops a request from filling the memory. Arguments of tools may contain files. */
const maxBodyBytes = 8 * 1024 * 1024;

/** The headers of every response of the API. */
export const apiHeaders: readonly string[] = ['Cache-Control', 'no-store', ...securityHeaders()];

export function respondJson(exchange: ConsoleExchange, status: number, value: unknown): void {
  exchange.respond(status, ['Content-Type', 'application/json', ...apiHeaders], JSON.stringify(value));
}

export function respondError(exchange: ConsoleExchange, error: unknown): void {
  const { status, code } = error instanceof ConsoleError ? error : { status: 502, code: 'failed' };
  const message = error instanceof Error ? error.message : String(error);
  const body = JSON.stringify({ error: { code, message } });
  const headers = ['Content-Type', 'application/json', ...apiHeaders];
  if (status === 401) headers.push('WWW-Authenticate', 'Bearer');
  if (status === 429) headers.push('Retry-After', '60');
  exchange.respond(status, headers, body);
}

export function readText(exchange: ConsoleExchange, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    exchange.readBody(maxBytes, (body) => {
      if (typeof body === 'string') resolve(body);
      else reject(new ConsoleError(413, body.reason, `The request is larger than ${maxBytes} bytes, or is not UTF-8`));
    });
  });
}

export async function readJson(exchange: ConsoleExchange, maxBytes = maxBodyBytes): Promise<object> {
  const text = await readText(exchange, maxBytes);
  const value = parseJson(text === '' ? '{}' : text);
  if (typeof value === 'object' && value !== null) return value;
  throw new ConsoleError(400, 'json', 'The body must be a JSON object');
}
