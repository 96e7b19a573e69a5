// What the fields of a server card must look like, as its schema and the text of SEP-2127 say. Used by the transport and,
// with the names of flags, by the program.

/** The longest title and description. */
const maxText = 100;
const maxName = 200;
const maxVersion = 255;

/** Labels of a domain, most general first, and a name. The schema also allows a single label, which is not reverse DNS. */
const reverseDnsName = /^[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)+\/[a-zA-Z0-9._-]+$/;

/** `^1.2.3`, `>=1.2.3`, `1.x`, `1.*`: a card has one version. */
const versionRange = /^\s*[\^~<>=]|(^|\.)[xX*](\.|$)/;

const quote = JSON.stringify;

function checkText(value: string): string | undefined {
  const length = [...value].length;
  if (length > 0 && length <= maxText) return undefined;
  return `must have 1 to ${maxText} characters, and has ${length}`;
}

function checkWebUrl(value: string): string | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    return `${quote(value)} is not a web address; write it with its scheme: "https://example.com"`;
  }
  // Everyone can read the card, and the log may be read by many.
  return url.username === '' && url.password === '' ? undefined : 'contains a user name or password; leave them out';
}

const checks = {
  name: (value: string) =>
    reverseDnsName.test(value) && value.length <= maxName
      ? undefined
      : `${quote(value)} is not a reverse-DNS name; write a domain of yours backwards, a slash and a name: "com.example/weather"`,
  title: checkText,
  description: checkText,
  version: (value: string) =>
    value !== '' && value.length <= maxVersion && !versionRange.test(value)
      ? undefined
      : `${quote(value)} is not a version; write one, not a range, in at most ${maxVersion} characters: "1.0.2"`,
  websiteUrl: checkWebUrl,
  'repository.url': checkWebUrl,
  'repository.source': (value: string) =>
    value === '' ? 'is empty; write the service that hosts the repository: "github"' : undefined,
  'icons.src': (value: string) => (/^data:/i.test(value) ? undefined : checkWebUrl(value)),
} as const;

export type CardField = keyof typeof checks;

/** What is wrong with a value; undefined if it is valid. */
export function explainInvalidCard(field: CardField, value: unknown): string | undefined {
  return typeof value === 'string' ? checks[field](value) : 'must be a text';
}
