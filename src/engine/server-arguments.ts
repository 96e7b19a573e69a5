// Arguments of the methods of a server: TypeScript reports a wrong one, JavaScript would fail later, in a request.

/** What was given, for messages. */
function given(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null || typeof value !== 'object') return value === null ? 'null' : `a ${typeof value}`;
  return Array.isArray(value) ? 'an array' : 'an object';
}

/** `example`: the argument as it may be written. */
export function requireFunctionArgument(method: string, example: string, value: unknown): void {
  if (typeof value === 'function') return;
  throw new TypeError(`server.${method} needs a function, not ${given(value)}: server.${method}(${example})`);
}

export function requireMethod(name: unknown, handler: unknown): void {
  if (typeof name === 'string' && name !== '' && typeof handler === 'function') return;
  const wrong =
    typeof name === 'string' && name !== ''
      ? `a function as its second argument, not ${given(handler)}`
      : `a name, a non-empty string, as its first argument, not ${name === '' ? '""' : given(name)}`;
  throw new TypeError(`server.method needs ${wrong}: server.method("name", (params, ctx) => ({ … }))`);
}

/** The method of this name in the official SDK takes a transport; without an error, nothing would be served. */
export function requirePeer(peer: { readonly transport: unknown } | undefined): void {
  if (typeof peer?.transport === 'string') return;
  throw new TypeError(
    'server.connect is not for programs. Use serveStdio(server) or serveHttp(server); in tests, connect(inMemory(server))',
  );
}

export function requirePack(pack: unknown): void {
  if (typeof pack === 'object' && pack !== null && 'install' in pack && typeof pack.install === 'function') return;
  const hint =
    typeof pack === 'function'
      ? '. Call the function that creates the pack; add middleware with server.around'
      : ': server.use({ name: "…", install(server) { … } })';
  throw new TypeError(`server.use needs a pack, an object with a function "install", not ${given(pack)}${hint}`);
}

/** A class may have other members; in an object that is written for this purpose, another function is a mistyped event. */
export function requireObserver(observer: unknown, events: readonly string[]): void {
  if (typeof observer !== 'object' || observer === null) {
    throw new TypeError(
      `server.observe needs an object, not ${given(observer)}: server.observe({ ended: ({ outcome }) => … })`,
    );
  }
  const members = observer as Readonly<Record<string, unknown>>;
  for (const event of events) {
    const value = members[event];
    if (value === undefined || typeof value === 'function') continue;
    throw new TypeError(`server.observe, ${event}: must be a function, not ${given(value)}`);
  }
  if (Object.getPrototypeOf(observer) !== Object.prototype) return;
  for (const [name, value] of Object.entries(members)) {
    if (typeof value !== 'function' || events.includes(name)) continue;
    throw new TypeError(`server.observe: there is no event ${JSON.stringify(name)}; use one of ${events.join(', ')}`);
  }
}
