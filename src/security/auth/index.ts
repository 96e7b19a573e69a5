// The entry point of authentication. Other folders import only from here.

export type { ScopeHierarchy } from './claims.ts';
export { anyOf, authenticateEnvironment } from './combine.ts';
export type { Authenticate, AuthenticationResult, AuthRequest, Denied, Principal } from './contract.ts';
export { AuthUnavailable, type IntrospectionOptions, type IssuerOptions } from './issuer.ts';
export { type MetadataRoute, metadataUrl } from './metadata.ts';
export { createOAuthAuthenticator, type OAuthAuthenticator, type OAuthOptions } from './oauth.ts';
export { requireScopes, type ScopeOptions, type ScopeRule } from './scopes.ts';
export { tokenIssuer } from './token-issuer.ts';
export {
  createToken,
  createTokenAuthenticator,
  hashToken,
  idOfToken,
  readTokenFile,
  type TokenEntry,
  type TokenOptions,
  tokenHashOf,
} from './tokens.ts';
