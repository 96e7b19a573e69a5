// The issuer of our own tokens. A file of its own: a gateway compares it at the start, without loading what checks tokens.

/** Keeps principals of static tokens apart from those of an authorization server. */
export const tokenIssuer = 'urn:mooring:token';
