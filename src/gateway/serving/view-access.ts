// Who may use a view.

import { compileGlobs, type Glob } from '../../common/glob.ts';
import type { Principal } from '../../protocol/callers/principal.ts';
import type { ViewAccess } from '../config/gateway-config.ts';

const compiled = new WeakMap<ViewAccess, Glob>();

/** Whether a caller has one of the ids, or all of the scopes. For others the view is empty. */
export function mayUse(allow: ViewAccess | undefined, principal: Principal | undefined): boolean {
  if (allow === undefined) return true;
  if (principal === undefined) return false;
  let isListed = compiled.get(allow);
  if (isListed === undefined) compiled.set(allow, (isListed = compileGlobs(allow.principals)));
  if (isListed(principal.id)) return true;
  const { scopes } = allow;
  return scopes.length > 0 && scopes.every((scope) => principal.scopes?.includes(scope) === true);
}
