// Bytes as text: base64 for content, base64url for headers, URLs and names.

/** Bytes that are passed as arguments at once; engines limit the number of arguments. */
const chunkBytes = 8192;

export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    binary += String.fromCharCode(...bytes.subarray(at, at + chunkBytes));
  }
  return btoa(binary);
}

export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** Strict: other alphabets, padding and stray bits are rejected, so a token has exactly one encoding. */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return undefined;
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(binary, (each) => each.charCodeAt(0));
  return toBase64Url(bytes) === text ? bytes : undefined;
}
