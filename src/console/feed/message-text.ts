// Parses the text of a message for the feed.

import { parseJson } from '../../common/parse-json.ts';
import { findRejectedLineId, idSearchBytes } from '../../transports/rejected-line-id.ts';

/** Longer texts are recorded without being parsed: stops large results from blocking calls. */
const maxParsedChars = 4 * 1024 * 1024;

/** The message; undefined if it is not JSON. Of a message that is too long to parse: its id and kind, to find its counterpart. */
export function parseText(text: string): unknown {
  if (text.length <= maxParsedChars) return parseJson(text);
  const { id, isResponse } = findRejectedLineId(text.slice(0, idSearchBytes), text.slice(-idSearchBytes));
  return isResponse ? { id, result: {} } : { id, method: 'too large to show' };
}
