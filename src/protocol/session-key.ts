// Names of sessions, as stores, limits and logs know them. No credentials: what clients send is sealed.

/** Sixteen characters of 96 random bits: too many to meet again, short enough for every line of a log. */
export function newSessionKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_');
}
