// Scenarios wait more than they work, so several servers are tried side by side: a lane has a server of its own, on
// which nobody else changes anything, and goes through its clients one after the other.
import { afterAll, beforeAll, describe } from 'vitest';
import { type HttpSubject, startHttpSubject } from '../conformance/subject.ts';

/** Clients that bring their own server each. */
export function describeLane(title: string, declare: () => void): void {
  describe.concurrent(title, declare);
}

/** Clients that share one HTTP server; it is known once the tests run. */
export function describeHttpLane(title: string, declare: (subject: () => HttpSubject) => void): void {
  describe.concurrent(title, () => {
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
