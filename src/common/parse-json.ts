// Parsing of JSON where a text that is not JSON is an expected case. Messages of peers are parsed in json-rpc.ts, with limits.

/** The parsed value; undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
