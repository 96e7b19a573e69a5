// The sign-in of callers, loaded with the first one that needs it: most gateways have servers that need none.

import type { Authenticate, MetadataRoute } from '../../../security/auth/index.ts';
import type { HttpExchange } from '../../../transports/http.ts';
import type { SignInSettings, UserSignIns } from './user-sign-ins.ts';

/** How callers reach the gateway. */
export interface SignInPlace {
  /** The address of the endpoint. */
  readonly address: string;
  /** `routes`: the metadata of the gateway as a protected resource; `hasTokens`: whether it has tokens of its own now. */
  readonly authentication: {
    readonly authenticate: Authenticate;
    readonly routes: readonly MetadataRoute[];
    readonly hasTokens: () => boolean;
  };
}

export class SignInAccess {
  readonly #settings: SignInSettings;
  #place: SignInPlace | undefined;
  #loaded: Promise<UserSignIns> | undefined;

  constructor(settings: SignInSettings) {
    this.#settings = settings;
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
    const { authenticate, routes, hasTokens } = authentication;
    return new UserSignIns({ address, authenticate, metadata: routes[0], hasTokens, ...this.#settings });
  }

  /** A request below the address of the pages; `name`: the rest of its path. */
  handle(exchange: HttpExchange, name: string): void {
    const loaded = this.load();
    if (loaded === undefined) return exchange.respond(404, []);
    loaded
      .then((users) => users.handle(exchange, name))
      .catch((error: unknown) => {
        this.#settings.logger.error('a page of a sign-in failed', { error });
        exchange.respond(500, []);
      });
  }
}
