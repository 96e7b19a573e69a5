// What the client's HTTP transport, the command line and applications may use of this folder.
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
export { createAuthorizer } from './create-authorizer.ts';
export { AuthError, type AuthErrorCode, type OAuthErrorInfo, type SignInLink } from './errors.ts';
export { type OpenUrl, openInBrowser } from './grants/browser.ts';
export type { ClientAuthMethod, ClientPrivateKey, PreRegisteredClient } from './grants/client-identity.ts';
export { followRedirect } from './grants/follow-redirect.ts';
export { createLoopbackRedirector, type LoopbackOptions } from './grants/loopback.ts';
export type { AssertionRequest, AssertionSource, MachineGrant } from './grants/machine-grants.ts';
export {
  createHookRedirector,
  type RedirectHook,
  type RedirectListener,
  type Redirector,
  type SignInVisit,
} from './grants/redirect.ts';
export { type SignedOut, type SignOutOptions, signOut } from './sign-out.ts';
export { createStaticAuthorizer } from './static-authorizer.ts';
export { type CredentialStore, createMemoryStore, type LockOptions } from './storage/credential-store.ts';
export { createFileStore, defaultCredentialFile, type FileStoreOptions } from './storage/file-store.ts';
export { createAuthorizedFetch, withAuthorization } from './with-authorization.ts';
