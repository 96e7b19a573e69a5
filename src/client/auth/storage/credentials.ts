// What is kept, and under which key: tokens and registrations belong only to the issuer that gave them,
// so the issuer is part of every key and checked again in every value read back.
import type { ClientAuthMethod } from '../grants/client-identity.ts';
import { type GrantKind, isTokenSet, type TokenSet } from '../grants/tokens.ts';
import type { CredentialStore, LockOptions } from './credential-store.ts';

/** A client we registered ourselves. */
export interface RegisteredClient {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  /** Epoch milliseconds; absent means never. */
  readonly secretExpiresAt?: number;
  readonly method: ClientAuthMethod;
  readonly redirectUri: string;
  readonly scope: readonly string[];
}

/** Which authorization server an MCP server relied on last. */
export interface ServerBinding {
  readonly issuer: string;
  readonly resource: string;
  readonly clientId: string;
  /** Set when the server has no metadata and the fixed paths were used. */
  readonly defaults?: true;
}

/** Typed access to a store on behalf of one MCP server and one way of getting tokens. */
export class Credentials {
  readonly #store: CredentialStore;
  readonly #server: string;
  readonly #grant: GrantKind;

  constructor(store: CredentialStore, server: URL, grant: GrantKind) {
    this.#store = store;
    this.#server = server.href;
    this.#grant = grant;
  }

  /** Runs a refresh while no other process refreshes for the same server. */
  lock<T>(task: () => Promise<T>, options?: LockOptions): Promise<T> {
    return this.#store.lock(keyOf('renew', this.#server, this.#grant), task, options);
  }

  async binding(): Promise<ServerBinding | undefined> {
    const value = (await this.#store.get(this.#bindingKey())) as ServerBinding | undefined;
    return typeof value?.issuer === 'string' && typeof value.resource === 'string' ? value : undefined;
  }

  bind(binding: ServerBinding): Promise<void> {
    return this.#store.set(this.#bindingKey(), binding);
  }

  unbind(): Promise<void> {
    return this.#store.set(this.#bindingKey(), undefined);
  }

  async tokens(issuer: string, resource: string): Promise<TokenSet | undefined> {
    const value = await this.#store.get(this.#tokenKey(issuer, resource));
    return isTokenSet(value) && value.issuer === issuer && value.resource === resource ? value : undefined;
  }

  saveTokens(tokens: TokenSet): Promise<void> {
    return this.#store.set(this.#tokenKey(tokens.issuer, tokens.resource), tokens);
  }

  forgetTokens(issuer: string, resource: string): Promise<void> {
    return this.#store.set(this.#tokenKey(issuer, resource), undefined);
  }

  async client(issuer: string): Promise<RegisteredClient | undefined> {
    const value = (await this.#store.get(keyOf('client', issuer))) as RegisteredClient | undefined;
    return value?.issuer === issuer && typeof value.clientId === 'string' && Array.isArray(value.scope)
      ? value
      : undefined;
  }

  saveClient(client: RegisteredClient): Promise<void> {
    return this.#store.set(keyOf('client', client.issuer), client);
  }

  forgetClient(issuer: string): Promise<void> {
    return this.#store.set(keyOf('client', issuer), undefined);
  }

  #bindingKey(): string {
    return keyOf('server', this.#server, this.#grant);
  }

  #tokenKey(issuer: string, resource: string): string {
    return keyOf('token', issuer, resource, this.#grant);
  }
}

/** Untrusted texts cannot collide in this form, whatever they contain. */
function keyOf(...parts: string[]): string {
  return JSON.stringify(parts);
}
