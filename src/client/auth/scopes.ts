// Which scopes to ask for (specification 2026-07-28, "Scope Selection Strategy" and "Step-Up Authorization Flow").

/** What there is to choose from. */
export interface ScopeSources {
  /** From the challenge; authoritative for the current operation. */
  readonly challenged: readonly string[] | undefined;
  /** All scopes the resource lists. */
  readonly resource: readonly string[] | undefined;
  /** All scopes the authorization server lists. */
  readonly server: readonly string[] | undefined;
  /** From the configuration of this client. */
  readonly configured: readonly string[] | undefined;
  /** Asked for earlier, so that a step-up does not lose it. */
  readonly previous: readonly string[] | undefined;
  /** Whether a refresh token is wanted. */
  readonly offline: boolean;
}

const offlineAccess = 'offline_access';

/** The scopes to request, in a stable order; empty means: leave the parameter out. */
export function chooseScopes(sources: ScopeSources): string[] {
  const base = sources.challenged ?? (sources.configured === undefined ? sources.resource : undefined) ?? [];
  const wanted = unite(sources.previous, sources.configured, base);
  const offered = sources.server?.includes(offlineAccess) ?? false;
  const scopes = wanted.filter((scope) => scope !== offlineAccess);
  // Only the authorization server can grant it, so only its own list decides, whatever the resource says.
  if (offered && (sources.offline || wanted.includes(offlineAccess))) scopes.push(offlineAccess);
  return scopes;
}

/** Several scope lists as one, first mention first. */
export function unite(...lists: (readonly string[] | undefined)[]): string[] {
  return [...new Set(lists.flatMap((list) => list ?? []))];
}

/** Whether every wanted scope is there. */
export function includesAll(have: readonly string[], wanted: readonly string[]): boolean {
  const known = new Set(have);
  return wanted.every((scope) => known.has(scope));
}
