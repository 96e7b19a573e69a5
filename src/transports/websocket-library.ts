// The one door to the `ws` library, for server and client alike: loaded when the first WebSocket is needed, not before.

/** Loads the library. */
export function loadWebSocketLibrary(): Promise<typeof import('ws')> {
  return import('ws');
}
