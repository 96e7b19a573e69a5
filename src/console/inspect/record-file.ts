// Writes everything the feed gets to a file, as a recording that can be opened again.

import { closeSync, openSync, writeSync } from 'node:fs';
import type { ConsoleSource } from '../contract.ts';
import { entryLine, headerLine, peerLine } from '../feed/recording.ts';

/** Starts a recording in a new file that only its owner can read. Returns a function that ends it. */
export function recordToFile({ feed, server }: ConsoleSource, path: string): () => void {
  const file = openSync(path, 'wx', 0o600);
  let lines: string[] = [headerLine(server)];
  let peerVersion = 0;
  const write = (): void => {
    if (lines.length > 0) writeSync(file, lines.join(''));
    lines = [];
  };
  const unlisten = feed.listen((entry) => {
    for (const peer of feed.peers.changedSince(peerVersion)) lines.push(peerLine(peer));
    peerVersion = feed.peers.version;
    lines.push(entryLine(entry));
    // Written together, after the messages of this turn of the event loop have been passed on.
    if (lines.length > 0 && !isScheduled) {
      isScheduled = true;
      setImmediate(() => {
        isScheduled = false;
        if (isOpen) write();
      });
    }
  });
  let isScheduled = false;
  let isOpen = true;
  return () => {
    if (!isOpen) return;
    feed.flush();
    unlisten();
    // Details of peers that became known after their last message.
    for (const peer of feed.peers.changedSince(peerVersion)) lines.push(peerLine(peer));
    write();
    isOpen = false;
    closeSync(file);
  };
}
