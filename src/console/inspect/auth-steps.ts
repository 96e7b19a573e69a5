// The steps of signing in to a server, as HTTP requests and responses without secrets. Wraps the fetch of the authorizer.

import type { AuthStep } from '../api.ts';
import { Capture } from '../feed/capture.ts';

/** Stops a server that asks again and again from filling the memory. */
const maxSteps = 200;
const maxBodyChars = 16 * 1024;

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface AuthRecorder {
  readonly fetch: Fetch;
  steps(): readonly AuthStep[];
}

/** Records what the authorizer requests. */
export function recordAuthSteps(raw = false): AuthRecorder {
  const capture = new Capture({ raw });
  const steps: AuthStep[] = [];
  const add = (step: AuthStep): void => {
    steps.push(step);
    if (steps.length > maxSteps) steps.shift();
  };
  return {
    steps: () => steps,
    async fetch(url, init) {
      const at = new Date().toISOString();
      const { pathname } = new URL(url);
      const { method = 'GET', body } = init;
      const request = `${method} ${capture.text(String(url)).text}${bodyOf(capture, body)}`;
      try {
        const response = await fetch(url, init);
        void startOf(response.clone()).then((text) => {
          const shown = `${response.status} ${response.statusText}\n${jsonOf(capture, text)}`;
          const problem = response.status < 400 ? {} : { problem: `Status ${response.status}` };
          add({ at, step: stepOf(pathname, method), request, response: shown, ...problem });
        });
        return response;
      } catch (error) {
        add({ at, step: stepOf(pathname, method), request, problem: (error as Error).message });
        throw error;
      }
    },
  };
}

/** The beginning of a body. Reads no more than that: the authorizer has its own limit for the rest. */
async function startOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > maxBodyChars) break;
    }
  } catch {
    // The request was aborted; what has arrived is shown.
  }
  return text.slice(0, maxBodyChars);
}

function stepOf(path: string, method: string): string {
  if (path.includes('/.well-known/oauth-protected-resource')) return 'Find the authorization server';
  if (path.includes('/.well-known/')) return 'Read the metadata of the authorization server';
  if (/register/.test(path)) return 'Register the client';
  if (/revo/.test(path)) return 'Revoke a token';
  return method === 'POST' ? 'Request a token' : 'Request';
}

/** A form or JSON, with the values of secret names hidden. */
function bodyOf(capture: Capture, body: unknown): string {
  if (body === undefined || body === null) return '';
  const text = String(body);
  if (/^[\w.~-]+=/.test(text)) {
    const fields = Object.fromEntries(new URLSearchParams(text));
    // A code or verifier can be exchanged for a token.
    const hidden = Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, secretFields.has(name) ? '[redacted]' : value]),
    );
    return `\n${JSON.stringify(capture.value(hidden), null, 2)}`;
  }
  return `\n${jsonOf(capture, text)}`;
}

const secretFields = new Set(['code', 'code_verifier', 'client_secret', 'refresh_token', 'assertion', 'subject_token']);

function jsonOf(capture: Capture, text: string): string {
  try {
    return JSON.stringify(capture.value(JSON.parse(text)), null, 2);
  } catch {
    return capture.text(text).text;
  }
}
