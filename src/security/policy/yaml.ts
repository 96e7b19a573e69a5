// The one place that knows the YAML library, loaded when a policy is written in YAML.

/** Reads one document of plain data: no aliases that unfold to gigabytes, no tags that make objects, no key twice. */
export async function parseYaml(text: string): Promise<unknown> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text, { version: '1.2', schema: 'core', uniqueKeys: true, prettyErrors: true });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) throw problem;
  return document.toJS({ maxAliasCount: 0 });
}
