// The official clients, old line and new line, talk to `serve everything` over stdio: every revision each of them can settle on.
import { StdioClientTransport as NewTransport } from '@modelcontextprotocol/client/stdio';
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { stdioSubject } from '../conformance/subject.ts';
import { describeConcurrent } from '../support/concurrent-suites.ts';
import { isFullRun } from '../support/full.ts';
import { connectNewLine } from './new-line.ts';
import { connectOldLine } from './old-line.ts';
import type { Revision } from './peer.ts';
import { describePeer } from './scenarios.ts';

const [command, ...args] = stdioSubject;
const subject = { command, args, stderr: 'ignore' as const };
const handshakes: readonly Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];

describeConcurrent('the old line', () => {
  for (const revision of handshakes) {
    describePeer(`at ${revision}`, revision, () => connectOldLine(new OldTransport(subject), revision));
  }
});

describeConcurrent('the new line, by handshake', () => {
  for (const offer of isFullRun ? handshakes : (['2024-11-05', '2025-11-25'] as const)) {
    describePeer(`at ${offer}`, offer, () => connectNewLine(new NewTransport(subject), { mode: 'legacy', offer }));
  }
});

describeConcurrent('the new line', () => {
  describePeer('finding out by itself', '2026-07-28', () =>
    connectNewLine(new NewTransport(subject), { mode: 'auto' }),
  );
  describePeer('pinned', '2026-07-28', () =>
    connectNewLine(new NewTransport(subject), { mode: { pin: '2026-07-28' } }),
  );
});
