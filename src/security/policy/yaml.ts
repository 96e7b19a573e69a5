// The only file that uses the YAML library, which is loaded if a policy is written in YAML.

/** Parses one document of plain data: no aliases that expand to gigabytes, no tags that create objects, no duplicate keys. */
export async function parseYaml(text: string): Promise<unknown> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text, { version: '1.2', schema: 'core', uniqueKeys: true, prettyErrors: true });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem?.code === 'RESOURCE_EXHAUSTION') throw new Error('its values are nested too deeply', { cause: problem });
  if (problem !== undefined) throw problem;
  return document.toJS({ maxAliasCount: 0 });
}
