// The only file that uses the YAML library, which is loaded when something is written in YAML: a policy, or the beginning of a
// skill.

/** Parses one document of plain data: no aliases that expand to gigabytes, no tags that create objects, no duplicate keys. */
export async function parseYaml(text: string): Promise<unknown> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text, { version: '1.2', schema: 'core', uniqueKeys: true, prettyErrors: true });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem?.code === 'RESOURCE_EXHAUSTION') throw new Error('its values are nested too deeply', { cause: problem });
  if (problem !== undefined) throw problem;
  return document.toJS({ maxAliasCount: 0 });
}

/**
 * Stops a file that is one long YAML document from occupying the process: the time of the parser grows with the square of the
 * length, to 0.4 s at this one and more than 5 s at four times as many characters.
 */
const maxFrontmatterChars = 16_384;

/** The YAML between the lines `---` at the beginning of a Markdown file. Throws an error that says what is wrong with it. */
export async function parseFrontmatter(markdown: string): Promise<{ readonly [key: string]: unknown }> {
  const beginning = markdown.slice(0, maxFrontmatterChars);
  const head = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)^---[ \t]*\r?$/m.exec(beginning);
  if (head === null || head.index !== 0) {
    const where = markdown.length > maxFrontmatterChars ? `, in its first ${maxFrontmatterChars} characters` : '';
    throw new Error(`it does not begin with YAML between two lines "---"${where}`);
  }
  const value = await parseYaml(head[1] as string);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('the YAML at its beginning is not a set of names and values');
  }
  return value as { readonly [key: string]: unknown };
}
