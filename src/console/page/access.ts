// The token: taken from the fragment of the link, kept for this tab, sent with every request. It is never in an address that
// is stored, logged or sent as a referrer.

const key = 'mooring-console-token';

/**
 * Exchanges the code of a link `#c=CODE` for a token. A program opened the link, so others may have seen it: it works once.
 * Resolves with what is wrong.
 */
export async function takeCode(): Promise<string | undefined> {
  const [, code, rest = ''] = /^#c=([^&]+)(?:&(.*))?$/.exec(location.hash) ?? [];
  if (code === undefined) return undefined;
  history.replaceState(null, '', `${location.pathname}${location.search}#/${rest}`);
  const body = JSON.stringify({ code: decodeURIComponent(code) });
  const init = { method: 'POST', body, headers: { 'Content-Type': 'application/json' } };
  try {
    const response = await fetch(new URL('api/exchange', document.baseURI), init);
    const { token: given, error } = (await response.json()) as { token?: string; error?: { message: string } };
    if (given === undefined) return error?.message ?? `The console responded with status ${response.status}.`;
    sessionStorage.setItem(key, given);
    return undefined;
  } catch {
    return 'The console does not respond.';
  }
}

/** Moves the token of a link `#t=TOKEN` to the storage of the tab and out of the address bar. */
export function takeToken(): void {
  const match = /^#t=([^&]+)(?:&(.*))?$/.exec(location.hash);
  if (match?.[1] === undefined) return;
  sessionStorage.setItem(key, decodeURIComponent(match[1]));
  history.replaceState(null, '', `${location.pathname}${location.search}#/${match[2] ?? ''}`);
}

export const token = (): string | null => sessionStorage.getItem(key);
export const setToken = (value: string): void => sessionStorage.setItem(key, value);
export const forgetToken = (): void => sessionStorage.removeItem(key);
