// Short pieces of long texts that are stored.

/** The first characters of a text. A slice would keep all of the text in memory (V8 stores it as a reference); this is a copy. */
export function firstChars(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : copyOf(text.slice(0, maxChars));
}

/** The last characters of a text, as a copy. */
export function lastChars(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : copyOf(text.slice(-maxChars));
}

/** For a text that may be a piece of a long one. */
export const copyOf = (text: string): string => structuredClone(text);
