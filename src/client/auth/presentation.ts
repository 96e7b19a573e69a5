// How the current token is shown to the MCP server: as a bearer header made once, or with a DPoP proof per request and
// whatever nonce the server last asked for.
import { type AuthorizationHeaders, type ChallengedResponse, headerOf } from './authorizer.ts';
import { createDpopKey, type DpopKey, dpopHeaders, rememberNonce } from './grants/oauth.ts';
import type { TokenSet } from './grants/tokens.ts';

const nothing: AuthorizationHeaders = Object.freeze({});

/** Presents one token set at a time. */
export class Presentation {
  #tokens: TokenSet | undefined;
  #bearer = nothing;
  #key: DpopKey | undefined;
  #nonce: string | undefined;
  /** Settles when the latest nonce is in place; proofs wait for it. */
  #remembering: Promise<void> | undefined;

  /** The key the current token is bound to, once it was needed. */
  get key(): DpopKey | undefined {
    return this.#key;
  }

  /** From now on, present these. */
  take(tokens: TokenSet, key: DpopKey | undefined): void {
    this.#tokens = tokens;
    if (key !== this.#key) this.#nonce = undefined; // Nonces belong to the handle of the key.
    this.#key = key;
    this.#bearer = Object.freeze({ authorization: `Bearer ${tokens.accessToken}` });
  }

  headers(target: URL, method: string): AuthorizationHeaders | Promise<AuthorizationHeaders> {
    return this.#tokens?.tokenType === 'dpop' ? this.#prove(this.#tokens, target, method) : this.#bearer;
  }

  /** Stores a nonce that came with a response, if it is a new one. */
  observe(target: URL, response: ChallengedResponse): void {
    if (this.#key === undefined) return;
    const nonce = headerOf(response.headers, 'dpop-nonce');
    if (nonce !== undefined) this.#remember(target, nonce);
  }

  /** Uses a nonce that the server demands. False when there is none, or the rejected request already carried it. */
  meetNonce(target: URL, response: ChallengedResponse, sent: AuthorizationHeaders | undefined): boolean {
    const nonce = headerOf(response.headers, 'dpop-nonce');
    if (nonce === undefined || this.#key === undefined || nonce === nonceIn(sent?.['dpop'])) return false;
    this.#remember(target, nonce);
    return true;
  }

  async #prove(tokens: TokenSet, target: URL, method: string): Promise<AuthorizationHeaders> {
    this.#key ??= await createDpopKey(tokens.dpopKey);
    await this.#remembering;
    return dpopHeaders(this.#key, target, method, tokens.accessToken);
  }

  #remember(target: URL, nonce: string): void {
    if (this.#key === undefined || nonce === this.#nonce) return;
    this.#nonce = nonce;
    // If a nonce cannot be stored, the next challenge shows that.
    this.#remembering = rememberNonce(this.#key, target, nonce).catch(() => {});
  }
}

/** The nonce inside one of our own proofs. */
function nonceIn(proof: string | undefined): string | undefined {
  const payload = proof?.split('.')[1];
  if (payload === undefined) return undefined;
  return (JSON.parse(Buffer.from(payload, 'base64url').toString()) as { nonce?: string }).nonce;
}
