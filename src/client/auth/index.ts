// What the client's HTTP transport, the command line and applications may use of this room.
export type {
  AuthorizationHeaders,
  Authorizer,
  ChallengeContext,
  ChallengedResponse,
  ChallengeOutcome,
  OutgoingRequest,
  ResponseHeaders,
} from './authorizer.ts';
export type { AuthorizerOptions } from './authorizer-options.ts';
export { type OpenUrl, openInBrowser } from './browser.ts';
export type { ClientAuthMethod, ClientPrivateKey, PreRegisteredClient } from './client-identity.ts';
export { createAuthorizer } from './create-authorizer.ts';
export { type CredentialStore, createMemoryStore, type LockOptions } from './credential-store.ts';
export { AuthError, type AuthErrorCode, type OAuthErrorInfo } from './errors.ts';
export { createFileStore, defaultCredentialFile } from './file-store.ts';
export { followRedirect } from './follow-redirect.ts';
export { createLoopbackRedirector, type LoopbackOptions } from './loopback.ts';
export type { AssertionRequest, AssertionSource, MachineGrant } from './machine-grants.ts';
export { createHookRedirector, type RedirectHook, type Redirector, type RedirectListener, type SignInVisit } from './redirect.ts';
export { type SignedOut, type SignOutOptions, signOut } from './sign-out.ts';
export { createStaticAuthorizer } from './static-authorizer.ts';
export { createAuthorizedFetch, withAuthorization } from './with-authorization.ts';
