// Puts an authorization server, a protected endpoint and an authorizer that signs in by itself together for a test,
// and takes everything down after it.
import type { AuthorizerOptions } from '../../../src/client/auth/authorizer-options.ts';
import { createAuthorizer } from '../../../src/client/auth/create-authorizer.ts';
import { followRedirect } from '../../../src/client/auth/grants/follow-redirect.ts';
import { createHookRedirector, type Redirector } from '../../../src/client/auth/grants/redirect.ts';
import { createAuthorizedFetch } from '../../../src/client/auth/with-authorization.ts';
import type { FakeHttp } from './fake-http.ts';
import {
  type FakeAuthorizationServer,
  type FakeResource,
  type ResourceBehaviour,
  type ServerBehaviour,
  startAuthorizationServer,
  startResource,
} from './fake-provider.ts';

/** One authorization server and one endpoint that trusts it. */
export interface AuthTestSetup {
  readonly as: FakeAuthorizationServer;
  readonly rs: FakeResource;
}

/** Starts worlds and stops them all. */
export class Worlds {
  readonly #running: FakeHttp[] = [];

  async start(
    server: Partial<ServerBehaviour> = {},
    resource: Partial<ResourceBehaviour> = {},
  ): Promise<AuthTestSetup> {
    const as = await startAuthorizationServer(server);
    const rs = await startResource(() => [as], resource);
    this.#running.push(as, rs);
    return { as, rs };
  }

  /** Has a server stopped with the rest. */
  add<T extends FakeHttp>(server: T): T {
    this.#running.push(server);
    return server;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.splice(0).map((server) => server.close()));
  }
}

/** Signs in without a person. */
export function selfSigning(redirectUri = 'http://127.0.0.1:7777/callback'): Redirector {
  return createHookRedirector(redirectUri, followRedirect());
}

/** A way to call the endpoint, authorizing on demand. */
export function caller(rs: Pick<FakeResource, 'url'>, options: Partial<AuthorizerOptions> = {}) {
  const authorizer = createAuthorizer({ server: rs.url, redirector: selfSigning(), ...options });
  const authorizedFetch = createAuthorizedFetch(authorizer);
  const call = async (init: RequestInit = {}): Promise<number> => {
    const response = await authorizedFetch(rs.url, { method: 'POST', body: '{}', ...init });
    await response.arrayBuffer();
    return response.status;
  };
  return { authorizer, call };
}
