// How a client command ends: when its work is done, by a signal, or because its time is over. It always ends soon,
// whatever the server does.

import { ClientError, type InputHandlers, PausableTimeout } from '../../client/index.ts';
import { exitCodes } from '../report-error.ts';

/** How long a server we started may take to end, and again after SIGTERM, once we are in a hurry. */
const hurriedGraceMs = 250;
/** What still keeps the process alive after its work is done has this long: a name lookup cannot be cancelled. */
const graceMs = 500;

/** One command and its end. */
export class Ending {
  readonly #stopping = new AbortController();
  readonly #limit: PausableTimeout | undefined;
  #interrupted = false;

  /** `seconds`: for all of it, not counting the time in which a user is asked. */
  constructor(seconds: number | undefined) {
    if (seconds !== undefined) this.#limit = new PausableTimeout(seconds * 1_000, () => this.#expire(seconds));
    process.on('SIGINT', this.#interrupt);
    process.on('SIGTERM', this.#interrupt);
  }

  /** Fires when the command is to end. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  get interrupted(): boolean {
    return this.#interrupted;
  }

  /** How long a server may take to end: undefined while there is time. */
  get graceMs(): number | undefined {
    return this.signal.aborted ? hurriedGraceMs : undefined;
  }

  /** Stops the clock while a user is asked. */
  readonly hold = (): (() => void) => this.#limit?.hold() ?? (() => {});

  /** Waits for the work of the command, but not beyond the end. */
  during<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const stop = (): void => reject(this.signal.reason);
      if (this.signal.aborted) stop();
      this.signal.addEventListener('abort', stop, { once: true });
      work.then(resolve, reject);
    });
  }

  /** The same handlers; the timer is paused while they wait for the user. */
  holdDuring({ elicit, elicitUrl, sample, ...others }: InputHandlers): InputHandlers {
    return {
      ...others,
      ...(elicit && { elicit: this.#held(elicit) }),
      ...(elicitUrl && { elicitUrl: this.#held(elicitUrl) }),
      ...(sample && { sample: this.#held(sample) }),
    };
  }

  /** The command is over, and nothing it started is left. */
  done(): void {
    this.#limit?.clear();
    process.off('SIGINT', this.#interrupt);
    process.off('SIGTERM', this.#interrupt);
    // The timer must not keep the process alive.
    setTimeout(leave, graceMs).unref();
  }

  #held<A extends unknown[], T>(handler: (...args: A) => T | Promise<T>): (...args: A) => Promise<T> {
    return async (...args) => {
      const release = this.hold();
      try {
        return await handler(...args);
      } finally {
        release();
      }
    };
  }

  readonly #interrupt = (): void => {
    // The second one is for people in a hurry.
    if (this.#interrupted) process.exit(exitCodes.interrupted);
    this.#interrupted = true;
    this.#stopping.abort(new Error('interrupted'));
  };

  #expire(seconds: number): void {
    const why = `No answer within ${seconds} s. Give the server more time with --timeout.`;
    this.#stopping.abort(new ClientError('connect-timeout', why));
  }
}

/** Ends the process once what was written has left it. Without an exit code, the error is still being reported. */
function leave(): void {
  if (process.exitCode === undefined) setTimeout(leave, graceMs).unref();
  else process.stdout.write('', () => process.exit());
}
