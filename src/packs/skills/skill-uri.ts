// The URIs of skills.

/** The segments of a path as part of a URI: what is not allowed in a segment is percent-encoded. */
export function encodePath(segments: readonly string[]): string {
  return segments.map(encodeSegment).join('/');
}

function encodeSegment(segment: string): string {
  return encodeURIComponent(segment).replace(/%(?:24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent);
}
