// What must hold before an authorization code is used: the response belongs to this request (state), comes from the
// server that was asked (RFC 9207), and was not used before. Nothing of a response that fails is shown or acted on.
import { timingSafeEqual } from 'node:crypto';
import { authErrors } from '../errors.ts';

/** Recorded before the user is sent to the server; stays in memory for one response. */
export interface PendingAuthorization {
  readonly state: string;
  /** From validated metadata. */
  readonly issuer: string;
  /** Whether that metadata announces an `iss` in every response. */
  readonly issuerPromised: boolean;
}

/** Checks responses to one authorization request. The first that is accepted, or is an error of its server, is final. */
export function createResponseValidator(pending: PendingAuthorization): (parameters: URLSearchParams) => void {
  let used = false;
  return (parameters) => {
    const states = parameters.getAll('state');
    if (states.length !== 1 || !equal(states[0]!, pending.state)) throw authErrors.stateMismatch();
    if (used) throw authErrors.stateReplayed();
    used = true;
    for (const name of ['iss', 'code', 'error', 'error_description', 'response']) {
      if (parameters.getAll(name).length > 1) throw authErrors.callbackInvalid(`"${name}" appears twice`);
    }
    checkIssuer(parameters.get('iss'), pending);
    const error = parameters.get('error');
    if (error !== null) {
      throw authErrors.authorizationDenied({ error, description: parameters.get('error_description') ?? undefined });
    }
    if ((parameters.get('code') ?? '') === '') throw authErrors.callbackInvalid('it carries no code');
  };
}

/** The four rows of the specification's table; plain string comparison, an empty value is a value. */
function checkIssuer(iss: string | null, pending: PendingAuthorization): void {
  if (iss === null) {
    if (pending.issuerPromised) throw authErrors.callbackIssuerMissing(pending.issuer);
    return;
  }
  if (iss !== pending.issuer) throw authErrors.callbackIssuerMismatch(pending.issuer);
}

function equal(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
