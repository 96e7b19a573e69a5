// Tests that talk to servers mostly wait, so several suites run at the same time. Each suite has a server of its own, and
// runs its tests one after the other.
import { afterAll, beforeAll, describe } from 'vitest';
import { type HttpSubject, startHttpSubject } from '../conformance/subject.ts';

/** Tests that bring their own servers. */
export function describeConcurrent(title: string, declare: () => void): void {
  describe.concurrent(title, () => {
    describe.sequential('one after the other', declare);
  });
}

/** Tests that share one HTTP server; it is known once they run. */
export function describeConcurrentHttp(
  title: string,
  declare: (subject: () => HttpSubject) => void,
  start: () => Promise<HttpSubject> = startHttpSubject,
): void {
  describeConcurrent(title, () => {
    let subject: HttpSubject | undefined;
    beforeAll(async () => {
      subject = await start();
    });
    afterAll(() => subject?.close());
    declare(() => {
      if (subject === undefined) throw new Error('The server of this suite is not running yet');
      return subject;
    });
  });
}
