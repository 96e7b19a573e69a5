// Which of the commands and URLs that a server has had is the one of now. Tools are accepted for each of them, so those of the
// others stay stored after the entry of the server was changed.

/** When a server was last used with one of its commands or URLs. */
export interface LatestUse {
  readonly identity: string;
  readonly at: string;
}

/** The part of an acceptance that says when a server was used. */
interface Accepted {
  /** Its identity. */
  readonly server: string;
  readonly slug: string;
  readonly at: string;
}

/** `used`: what is known besides the acceptances. Undefined if nothing is. */
export function latestUse(
  slug: string,
  acceptances: readonly Accepted[],
  used: LatestUse | undefined,
): LatestUse | undefined {
  let latest = used;
  for (const each of acceptances) {
    if (each.slug !== slug || (latest !== undefined && each.at <= latest.at)) continue;
    latest = { identity: each.server, at: each.at };
  }
  return latest;
}
