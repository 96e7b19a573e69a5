// Answers of token and registration endpoints on their way to the OAuth library: small errors that real servers make are
// fixed, and the message of an error response is extracted. The library itself is oauth.ts.
import type { OAuthErrorInfo } from '../errors.ts';

/** We never look at ID tokens, so one that fails a check must not cost us the access token beside it. */
export function withoutIdToken(response: Response): Promise<Response> {
  return rewrite(response, response.status, (body) => {
    delete body['id_token'];
  });
}

/** Errors are logged, and some servers repeat the token that they reject. */
export async function withoutSecrets(response: Response, secrets: readonly (string | undefined)[]): Promise<Response> {
  if (response.ok || response.body === null) return response;
  let text = await response.text();
  for (const secret of secrets) {
    // Slashes may be escaped in JSON.
    for (const each of secret ? [secret, secret.replaceAll('/', '\\/')] : []) text = text.replaceAll(each, '[hidden]');
  }
  return new Response(text, { status: response.status, headers: response.headers });
}

/** Two common errors of registration endpoints: 200 for 201, and a secret without its expiry (which then is never). */
export function lenientRegistration(response: Response): Promise<Response> {
  return rewrite(response, response.status === 200 ? 201 : response.status, (body) => {
    body['client_secret_expires_at'] ??= 0;
    if (body['client_secret'] === null || body['client_secret'] === '') delete body['client_secret'];
  });
}

/** Status and OAuth error of a response, as far as it can still be read. */
export async function errorIn(response: Response): Promise<OAuthErrorInfo> {
  const { status } = response;
  if (response.bodyUsed) return { status };
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined); // No JSON: then the status is all there is.
  const text = (name: string) => {
    const value = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  return { status, error: text('error'), description: text('error_description') };
}

async function rewrite(
  response: Response,
  status: number,
  change: (body: Record<string, unknown>) => void,
): Promise<Response> {
  if (!response.ok) return response;
  try {
    const body = (await response.clone().json()) as Record<string, unknown>;
    if (typeof body !== 'object' || body === null) return response;
    change(body);
    return Response.json(body, { status });
  } catch {
    return response; // Not JSON: the library reports it.
  }
}
