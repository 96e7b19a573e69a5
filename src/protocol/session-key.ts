// Names of sessions, as stores, limits and logs use them. They are not credentials: what clients send is sealed.

import { toBase64Url } from '../common/base64url.ts';

/** Sixteen characters of 96 random bits: too many to repeat, short enough for every line of a log. */
export const newSessionKey = (): string => toBase64Url(crypto.getRandomValues(new Uint8Array(12)));
