// Many requests that fail for one reason share one task: the first starts it, the others wait for the same outcome,
// good or bad. It is aborted only when all waiting requests were cancelled.
import { unlessAborted } from '../../common/wait.ts';

interface Flight {
  readonly promise: Promise<void>;
  readonly controller: AbortController;
  waiting: number;
}

/** Runs at most one task per key at a time. */
export class SingleFlight {
  readonly #flights = new Map<string, Flight>();

  async run(key: string, task: (signal: AbortSignal) => Promise<void>, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const flight = this.#flights.get(key) ?? this.#start(key, task);
    flight.waiting++;
    try {
      await unlessAborted(flight.promise, signal);
    } finally {
      // Out of the table before the abort: the next request must not join a task that is ending.
      if (--flight.waiting === 0) this.#end(key, flight).abort(signal?.reason);
    }
  }

  #start(key: string, task: (signal: AbortSignal) => Promise<void>): Flight {
    const controller = new AbortController();
    const promise = task(controller.signal).finally(() => this.#end(key, flight));
    // All waiting requests may be cancelled before it fails; then the error is not needed.
    promise.catch(() => {});
    const flight: Flight = { promise, controller, waiting: 0 };
    this.#flights.set(key, flight);
    return flight;
  }

  #end(key: string, flight: Flight): AbortController {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
    return flight.controller;
  }
}
