// The tokens that callers have sent, for servers whose tokens are issued in exchange for them (RFC 8693). They are in memory
// only, and go to no server: the authorizers pass them to the authorization server of the configuration.

import { principalKey } from '../../engine/ports.ts';
import { type Authenticate, type Principal, tokenIssuer } from '../../security/auth/index.ts';

/** Callers whose tokens are remembered; the least recently seen are forgotten until they send another request. */
const maxCallers = 10_000;
/** Characters of all tokens together; stops callers with long tokens from filling the memory. */
const maxChars = 16 * 1024 * 1024;

interface RememberedToken {
  readonly token: string;
  readonly expiresAtMs: number;
}

export class CallerTokens {
  readonly #tokens = new Map<string, RememberedToken>();
  readonly #isNeeded: () => boolean;
  #chars = 0;

  /** `isNeeded`: whether a server of the gateway exchanges tokens; otherwise none is remembered. */
  constructor(isNeeded: () => boolean) {
    this.#isNeeded = isNeeded;
  }

  /** The token of the last request of a caller, while it is valid. */
  of(key: string): string | undefined {
    const found = this.#tokens.get(key);
    return found === undefined || found.expiresAtMs <= Date.now() ? undefined : found.token;
  }

  /** The same authentication; tokens of callers that pass are remembered. */
  remembering(authenticate: Authenticate): Authenticate {
    return (request) => {
      const result = authenticate(request);
      if (!this.#isNeeded()) return result;
      const take = (found: Awaited<ReturnType<Authenticate>>): typeof found => {
        if (found === undefined || 'status' in found) return found;
        // Our own tokens are for this program only, and no authorization server knows them.
        if (found.issuer === tokenIssuer) return found;
        const [, token] = /^bearer +(\S+)$/i.exec(request.get('authorization') ?? '') ?? [];
        if (token !== undefined) this.#remember(found, token);
        return found;
      };
      return result instanceof Promise ? result.then(take) : take(result);
    };
  }

  #remember(principal: Principal, token: string): void {
    const key = principalKey(principal);
    this.#forget(key);
    this.#tokens.set(key, { token, expiresAtMs: principal.expiresAtMs ?? Number.POSITIVE_INFINITY });
    this.#chars += token.length;
    for (const oldest of this.#tokens.keys()) {
      if (this.#tokens.size <= maxCallers && this.#chars <= maxChars) return;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#chars -= this.#tokens.get(key)?.token.length ?? 0;
    this.#tokens.delete(key);
  }
}
