// The only file that imports the `ws` library, for server and client: loaded when the first WebSocket is needed.

/** Loads the library. */
export function loadWebSocketLibrary(): Promise<typeof import('ws')> {
  return import('ws');
}
