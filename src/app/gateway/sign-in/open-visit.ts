// A browser on its way through an authorization server, and the response that it brings back.

import { AuthError, type SignInVisit } from '../../../client/index.ts';

/** `foreign`: the response belongs to another visit, and this one goes on. */
export type Received = 'accepted' | 'rejected' | 'foreign';

export class OpenVisit {
  /** Where the browser goes. */
  readonly url: URL;
  /** Rejects when the user has taken too long. */
  readonly response: Promise<URLSearchParams>;
  readonly #validate: SignInVisit['validate'];
  #settle!: { resolve(parameters: URLSearchParams): void; reject(error: unknown): void };

  constructor({ url, signal, validate }: SignInVisit) {
    this.url = url;
    this.#validate = validate;
    this.response = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    const abort = (): void => this.end(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  }

  receive(parameters: URLSearchParams): Received {
    try {
      this.#validate(parameters);
    } catch (error) {
      if (error instanceof AuthError && error.isForeignResponse) {
        return 'foreign';
      }
      this.end(error);
      return 'rejected';
    }
    this.#settle.resolve(parameters);
    return 'accepted';
  }

  end(reason: unknown): void {
    this.#settle.reject(reason);
  }
}
