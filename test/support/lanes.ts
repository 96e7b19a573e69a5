// Tests that talk to servers wait more than they work, so several servers are tried side by side: a lane has a server of
// its own, on which nobody else changes anything, and goes through its tests one after the other.
import { afterAll, beforeAll, describe } from 'vitest';
import { type HttpSubject, startHttpSubject } from '../conformance/subject.ts';

/** Tests that bring their own servers. */
export function describeLane(title: string, declare: () => void): void {
  describe.concurrent(title, () => {
    describe.sequential('one after the other', declare);
  });
}

/** Tests that share one HTTP server; it is known once they run. */
export function describeHttpLane(title: string, declare: (subject: () => HttpSubject) => void): void {
  describeLane(title, () => {
    let subject: HttpSubject | undefined;
    beforeAll(async () => {
      subject = await startHttpSubject();
    });
    afterAll(() => subject?.close());
    declare(() => {
      if (subject === undefined) throw new Error('The server of this lane is not running yet');
      return subject;
    });
  });
}
