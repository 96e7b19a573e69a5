// What is passed to a transport must be a server: JavaScript would fail later, with an error about a member.

/** Throws for anything else. `callee`: the function that it was passed to. */
export function assertHost(callee: string, host: unknown): void {
  if (typeof (host as { readonly connect?: unknown } | null | undefined)?.connect === 'function') return;
  const isGateway = typeof host === 'object' && host !== null && 'server' in host;
  const fix = isGateway ? `${callee}(gateway.server)` : `${callee}(createServer({ name, version }))`;
  throw new TypeError(`${callee} needs a server as its first argument: ${fix}`);
}
