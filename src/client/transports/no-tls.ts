// A TLS handshake with a server that does not use TLS: OpenSSL only says that the version number is wrong.

const pattern = /wrong version number|packet length too long/;

/** Whether a connection failed because the server responded without TLS. */
export function isNoTls(error: unknown): boolean {
  const { message = '', cause } = (error ?? {}) as { readonly message?: unknown; readonly cause?: unknown };
  return pattern.test(String(message)) || (cause !== undefined && isNoTls(cause));
}

/** The reason, with the address to use instead. */
export function noTls(url: URL): string {
  const plain = url.href.replace(/^(http|ws)s:/, '$1:');
  return `it does not use TLS. If that is intended, connect to ${plain}`;
}
