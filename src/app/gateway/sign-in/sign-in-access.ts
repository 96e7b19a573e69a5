// The sign-in of callers, loaded with the first one that needs it: most gateways have servers that need none.

import type { Logger } from '../../../common/logger.ts';
import type { HttpExchange } from '../../../transports/http.ts';
import type { Authentication } from '../../auth/authentication.ts';
import type { UserSignIns } from './user-sign-ins.ts';

/** How callers reach the gateway. */
export interface SignInPlace {
  /** The address of the endpoint. */
  readonly address: string;
  readonly authentication: Pick<Authentication, 'authenticate' | 'routes'>;
}

export class SignInAccess {
  readonly #folder: string;
  readonly #logger: Logger;
  #place: SignInPlace | undefined;
  #loaded: Promise<UserSignIns> | undefined;

  constructor(folder: string, logger: Logger) {
    this.#folder = folder;
    this.#logger = logger;
  }

  /** Callers can sign in from now on. Authorization servers send browsers back only to this machine or to https. */
  open(place: SignInPlace): void {
    this.#place = place;
  }

  /** Undefined if callers cannot sign in. */
  load(): Promise<UserSignIns> | undefined {
    if (this.#place === undefined) return undefined;
    this.#loaded ??= this.#create(this.#place);
    return this.#loaded;
  }

  async #create({ address, authentication }: SignInPlace): Promise<UserSignIns> {
    const { UserSignIns } = await import('./user-sign-ins.ts');
    const { authenticate, routes } = authentication;
    return new UserSignIns({ address, folder: this.#folder, authenticate, metadata: routes[0], logger: this.#logger });
  }

  /** A request below the address of the pages; `name`: the rest of its path. */
  handle(exchange: HttpExchange, name: string): void {
    // A link exists only after the first sign-in has begun.
    if (this.#loaded === undefined) return exchange.respond(404, []);
    this.#loaded
      .then((users) => users.handle(exchange, name))
      .catch((error: unknown) => {
        this.#logger.error('a page of a sign-in failed', { error });
        exchange.respond(500, []);
      });
  }
}
