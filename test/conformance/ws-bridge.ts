// A pipe over WebSocket, for bridge.ts: one text frame is one JSON-RPC message.
import { WebSocket } from 'ws';
import { type Bridge, type OpenPipe, startBridge } from './bridge.ts';
import { parseMessage } from './wire.ts';

/** Starts a bridge that opens one WebSocket per session, and one for all stateless requests. */
export function startWebSocketBridge(url: string): Promise<Bridge> {
  return startBridge(webSocketPipe(url));
}

/** Opens connections to this ws: URL. */
export function webSocketPipe(url: string): OpenPipe {
  return async (events) => {
    const socket = new WebSocket(url, 'mcp');
    socket.on('message', (data) => {
      const message = parseMessage(data.toString());
      if (message) events.message(message);
    });
    await new Promise<void>((opened, failed) => socket.once('open', opened).once('error', failed));
    socket.on('error', (cause) => events.closed(`the WebSocket failed: ${cause.message}`));
    const gone = new Promise<void>((done) => {
      socket.once('close', (code, reason) => {
        events.closed(`the WebSocket was closed (${code} ${reason.toString()})`);
        done();
      });
    });
    return {
      send: (message) => socket.send(JSON.stringify(message)),
      close: async () => {
        socket.close(1000);
        await gone;
      },
    };
  };
}
