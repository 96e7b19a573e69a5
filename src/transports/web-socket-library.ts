// The one place that loads `ws`, when the first WebSocket is asked for.

/** The library, loaded once. */
export function loadWebSocketLibrary(): Promise<typeof import('ws')> {
  return import('ws');
}
