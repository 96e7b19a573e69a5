// Connections that node:cluster has passed to a worker which was killed before it accepted them. The first process still holds such
// a connection, and without this file it would for ever: its client would wait for a response until it gives up.

import type { Worker as Child } from 'node:cluster';

/** What node:cluster sends with a connection, and what a worker responds. Not documented, but the same since Node 0.12. */
interface ClusterMessage {
  readonly cmd?: unknown;
  readonly act?: unknown;
  readonly seq?: unknown;
  readonly ack?: unknown;
}

/** How long after the end of a worker what it sent may still be read. */
const channelTimeoutMs = 500;

/** Gives connections that a worker has not accepted when it ends to another one, as if it had rejected them. */
export function recoverConnections({ process: child }: Child): void {
  const unaccepted = new Set<unknown>();
  const send = child.send as (message: ClusterMessage, ...rest: unknown[]) => boolean;
  child.send = ((message: ClusterMessage, ...rest: unknown[]): boolean => {
    if (message.cmd === 'NODE_CLUSTER' && message.act === 'newconn') unaccepted.add(message.seq);
    return send.call(child, message, ...rest);
  }) as typeof child.send;
  child.on('internalMessage', ({ cmd, ack }: ClusterMessage) => {
    if (cmd === 'NODE_CLUSTER' && ack !== undefined) unaccepted.delete(ack);
  });
  // Its channel is normally closed by then; otherwise its connections would never be given to another worker.
  child.once('exit', () => setTimeout(() => child.connected && child.disconnect(), channelTimeoutMs));
  // All its responses have been read by then.
  child.once('disconnect', () => {
    for (const ack of unaccepted) child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack, accepted: false });
  });
}
