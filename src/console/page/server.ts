// Requests to the console's server.

import { signal } from '@preact/signals';
import { forgetToken, token } from './access.ts';

/** Why there is no access; undefined while there is. */
export const accessProblem = signal<string | undefined>(token() === null ? 'missing' : undefined);

class ServerError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Relative to the page, which is at `<path>/`. */
const base = new URL('api/', document.baseURI);

export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const bearer = token();
  if (bearer !== null) headers.set('Authorization', `Bearer ${bearer}`);
  let response: Response;
  try {
    response = await fetch(new URL(path, base), { ...init, headers, cache: 'no-store', referrerPolicy: 'no-referrer' });
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw new ServerError(0, 'The console does not respond. It continues when the server is back.');
  }
  if (response.ok) return response;
  const message = await messageOf(response);
  if (response.status === 401) {
    forgetToken();
    accessProblem.value = message;
  }
  throw new ServerError(response.status, message);
}

async function messageOf(response: Response): Promise<string> {
  try {
    const body = (await response.json()) as { error?: { message?: string } };
    if (typeof body.error?.message === 'string') return body.error.message;
  } catch {
    // Not JSON, so only the status is reported.
  }
  return `The server responded with status ${response.status}.`;
}

export async function get<Result>(path: string): Promise<Result> {
  return (await send(path)).json() as Promise<Result>;
}

export async function post<Result>(path: string, body: unknown, signal?: AbortSignal): Promise<Result> {
  const init = { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' }, signal };
  return (await send(path, init)).json() as Promise<Result>;
}
