// A small authorization server and a protected MCP endpoint for tests, honest by default; each test bends the behaviour
// it is about. Tokens are plain words, so that a test can see which one went where.
import { createHash } from 'node:crypto';
import { type FakeHttp, notFound, type Reply, type SeenRequest, startFakeHttp } from './fake-http.ts';

/** What an authorization server does; change it while it runs. */
export interface ServerBehaviour {
  /** Path of the issuer, empty or "/tenant". */
  path: string;
  /** Which well-known place answers. */
  wellKnown: 'oauth' | 'oidc-inserted' | 'oidc-appended' | 'none';
  /** Laid over the metadata; undefined removes a member. */
  metadata: Record<string, unknown>;
  /** The `iss` of authorization responses; undefined leaves it out. */
  iss: (issuer: string) => string | undefined;
  /** Laid over the parameters of an authorization response. */
  callback: Record<string, string | undefined>;
  /** Laid over the registration answer, or a whole reply. */
  registration: (document: Record<string, unknown>) => Reply | undefined;
  /** Replaces the token answer when it returns one. */
  token: (form: URLSearchParams, request: SeenRequest) => Reply | undefined | Promise<Reply | undefined>;
  /** The answer of /revoke, which has to be declared in the metadata. */
  revocation: (request: SeenRequest) => Reply;
  /** Laid over ordinary token answers. */
  tokenExtras: Record<string, unknown>;
}

/** A running authorization server. */
export interface FakeAuthorizationServer extends FakeHttp {
  readonly issuer: string;
  readonly behaviour: ServerBehaviour;
  /** Access tokens given out, newest last, with their scopes. */
  readonly issued: { token: string; scope: string }[];
  /** Forms the token endpoint got. */
  forms(): URLSearchParams[];
}

/** Starts an authorization server. */
export async function startAuthorizationServer(bend: Partial<ServerBehaviour> = {}): Promise<FakeAuthorizationServer> {
  const behaviour: ServerBehaviour = {
    path: '',
    wellKnown: 'oauth',
    metadata: {},
    iss: (issuer) => issuer,
    callback: {},
    registration: () => undefined,
    token: () => undefined,
    revocation: () => notFound,
    tokenExtras: {},
    ...bend,
  };
  const issued: { token: string; scope: string }[] = [];
  const codes = new Map<string, { challenge: string; scope: string }>();
  const issuer = () => `${http.origin}${behaviour.path}`;
  const at = (name: string) => `${behaviour.path}/${name}`;

  const places = {
    oauth: () => `/.well-known/oauth-authorization-server${behaviour.path}`,
    'oidc-inserted': () => `/.well-known/openid-configuration${behaviour.path}`,
    'oidc-appended': () => `${behaviour.path}/.well-known/openid-configuration`,
    none: () => '/nowhere',
  };

  function issue(scope: string): Reply {
    const token = `token-${issued.length + 1}-of-${new URL(http.origin).port}`;
    issued.push({ token, scope });
    const body = {
      access_token: token,
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: `refresh-${issued.length}`,
      ...(scope === '' ? {} : { scope }),
      ...behaviour.tokenExtras,
    };
    return { body };
  }

  async function token(request: SeenRequest): Promise<Reply> {
    const form = new URLSearchParams(request.body);
    const bent = await behaviour.token(form, request);
    if (bent !== undefined) return bent;
    if (form.get('grant_type') !== 'authorization_code') return issue(form.get('scope') ?? issued.at(-1)?.scope ?? '');
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    return code?.challenge === challenge ? issue(code.scope) : { status: 400, body: { error: 'invalid_grant' } };
  }

  function authorize({ query }: SeenRequest): Reply {
    const code = `code-${codes.size + issued.length + 1}`;
    codes.set(code, { challenge: query.get('code_challenge') ?? '', scope: query.get('scope') ?? '' });
    const target = new URL(query.get('redirect_uri') ?? '');
    const parameters = {
      code,
      state: query.get('state') ?? undefined,
      iss: behaviour.iss(issuer()),
      ...behaviour.callback,
    };
    for (const [name, value] of Object.entries(parameters)) {
      if (value !== undefined) target.searchParams.set(name, value);
    }
    return { status: 302, headers: { location: target.href } };
  }

  function register(request: SeenRequest): Reply {
    const document = JSON.parse(request.body) as Record<string, unknown>;
    return (
      behaviour.registration(document) ?? { status: 201, body: { ...document, client_id: `client-of-${issuer()}` } }
    );
  }

  const http = await startFakeHttp((request) => {
    if (request.path === places[behaviour.wellKnown]()) {
      return {
        body: {
          issuer: issuer(),
          authorization_endpoint: `${http.origin}${at('authorize')}`,
          token_endpoint: `${http.origin}${at('token')}`,
          registration_endpoint: `${http.origin}${at('register')}`,
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: ['none'],
          authorization_response_iss_parameter_supported: true,
          ...behaviour.metadata,
        },
      };
    }
    if (request.path === at('authorize')) return authorize(request);
    if (request.path === at('token')) return token(request);
    if (request.path === at('register')) return register(request);
    if (request.path === at('revoke')) return behaviour.revocation(request);
    return notFound;
  });

  return {
    ...http,
    issued,
    behaviour,
    get issuer() {
      return issuer();
    },
    forms: () => http.to(at('token')).map((request) => new URLSearchParams(request.body)),
  };
}

/** What a protected endpoint does; change it while it runs. */
export interface ResourceBehaviour {
  /** Where its metadata is; null for servers of 2025-03-26. */
  metadataPath: string | null;
  /** Whether challenges name that place. */
  named: boolean;
  /** Laid over the metadata. */
  metadata: Record<string, unknown>;
  /** More challenge parameters: `scope="a"`. */
  challenge: string;
  /** Decides on a token; undefined accepts. */
  checkToken: (token: string | undefined, request: SeenRequest) => Reply | undefined;
}

/** A running protected endpoint. */
export interface FakeResource extends FakeHttp {
  readonly url: string;
  readonly behaviour: ResourceBehaviour;
  /** Authorization headers the endpoint got, in order. */
  presented(): (string | undefined)[];
  /** A rejection with this server's challenge. */
  reject(status: number, parameters?: string): Reply;
}

/** Starts a protected endpoint at /mcp that trusts the tokens of the given servers. */
export async function startResource(
  trusted: () => FakeAuthorizationServer[],
  bend: Partial<ResourceBehaviour> = {},
): Promise<FakeResource> {
  const known = (token: string | undefined) =>
    trusted().some((server) => server.issued.some((entry) => entry.token === token));
  const behaviour: ResourceBehaviour = {
    metadataPath: '/.well-known/oauth-protected-resource/mcp',
    named: true,
    metadata: {},
    challenge: '',
    checkToken: (token) => (known(token) ? undefined : reject(401)),
    ...bend,
  };

  function reject(status: number, parameters = behaviour.challenge): Reply {
    const place = behaviour.named && behaviour.metadataPath !== null ? behaviour.metadataPath : undefined;
    const parts = [place === undefined ? '' : `resource_metadata="${http.origin}${place}"`, parameters];
    return { status, headers: { 'www-authenticate': `Bearer ${parts.filter((part) => part !== '').join(', ')}` } };
  }

  const http = await startFakeHttp((request) => {
    if (request.path === behaviour.metadataPath) {
      const issuers = trusted().map((server) => server.issuer);
      return { body: { resource: `${http.origin}/mcp`, authorization_servers: issuers, ...behaviour.metadata } };
    }
    if (request.path !== '/mcp') return notFound;
    const token = request.headers.authorization?.split(' ')[1];
    return behaviour.checkToken(token, request) ?? { body: { ok: true } };
  });

  return {
    ...http,
    behaviour,
    url: `${http.origin}/mcp`,
    reject,
    presented: () => http.to('/mcp').map((request) => request.headers.authorization),
  };
}
