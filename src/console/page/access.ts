// The token: taken from the fragment of the link, kept for this tab, sent with every request. It is never in an address that
// is stored, logged or sent as a referrer.

const key = 'mooring-console-token';

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
