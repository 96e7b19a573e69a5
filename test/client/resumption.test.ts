// Our client over a network that breaks streams in the middle.
import { afterAll, beforeAll } from 'vitest';
import { type HttpSubject, startHttpSubject } from '../conformance/subject.ts';
import { describeResumption } from '../peers/resumption.ts';
import { isFullRun } from '../support/full.ts';
import { connectMooring } from './mooring-peer.ts';

let subject: HttpSubject;
beforeAll(async () => {
  subject = await startHttpSubject();
});
afterAll(() => subject?.close());

for (const revision of isFullRun ? ['2025-03-26', '2025-06-18', '2025-11-25'] : ['2025-03-26', '2025-11-25']) {
  describeResumption(
    `our client at ${revision}`,
    () => subject.url,
    (url) => connectMooring(url, { revision }),
  );
}
