// The JSON Schema of a policy file, for editors and for validation. Strict: a misspelled key must not silently disable a
// protection.

const text = { type: 'string', minLength: 1 } as const;
const globs = { type: 'array', items: { type: 'string', minLength: 1, maxLength: 1024 }, minItems: 1 } as const;
const duration = { type: 'string', pattern: '^[0-9]+(ms|s|m|h)$', examples: ['500ms', '30s', '5m'] } as const;
const size = {
  anyOf: [
    { type: 'integer', minimum: 1 },
    { type: 'string', pattern: '^[0-9]+(KiB|MiB|GiB)?$' },
  ],
  examples: ['64KiB', '1MiB'],
} as const;
const scope = { enum: ['principal', 'session', 'tool', 'upstream', 'global'] } as const;
const per = { anyOf: [scope, { type: 'array', items: scope, minItems: 1 }] } as const;
const methods = { type: 'array', items: text, minItems: 1 } as const;

const audience = {
  principals: { ...globs, description: 'Names of callers, as globs. Callers without a name match only * and **.' },
  issuers: { ...globs, description: 'Issuers of their tokens, as globs.' },
  scopes: { ...globs, description: 'Scopes that the caller must have, all of them, compared exactly.' },
  profiles: { ...globs, description: 'Profiles in which this applies, as globs.' },
} as const;

const object = <P extends object>(properties: P, required: readonly string[] = []) =>
  ({ type: 'object', properties, required: [...required], additionalProperties: false }) as const;

/** The JSON Schema of a policy file. */
export const policySchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'https://mooring.dev/schemas/policy-1.json',
  title: 'Mooring policy',
  description: 'Who may use what, how often and how long, and what tools may access. Read once when the server starts.',
  ...object(
    {
      $schema: { type: 'string' },
      version: { const: 1 },
      default: {
        enum: ['allow', 'deny'],
        description: 'Applies where no rule matches. Default: deny if there are rules.',
      },
      rules: {
        type: 'array',
        description: 'The first matching rule decides. A rule without tools, resources and prompts covers everything.',
        items: object(
          {
            name: text,
            effect: { enum: ['allow', 'deny'] },
            tools: globs,
            resources: globs,
            prompts: globs,
            ...audience,
            reason: text,
          },
          ['effect'],
        ),
      },
      arguments: {
        type: 'array',
        description: 'Constraints on arguments. Arguments must satisfy every matching rule.',
        items: object(
          {
            name: text,
            tools: globs,
            argument: { ...text, description: 'A name, a JSON Pointer, or * for every string at any depth.' },
            schema: { type: 'object', description: 'JSON Schema without pattern.' },
            allow: globs,
            deny: globs,
            ignoreCase: { type: 'boolean' },
            maxLength: { type: 'integer', minimum: 0 },
            ...audience,
            reason: text,
          },
          ['tools', 'argument'],
        ),
      },
      scopes: {
        type: 'array',
        description: 'Scopes that operations need.',
        items: object({ tools: globs, resources: globs, prompts: globs, scopes: { ...globs } }, ['scopes']),
      },
      limits: object({
        rate: {
          type: 'array',
          items: object(
            {
              per,
              tools: globs,
              methods,
              requests: { type: 'integer', minimum: 1 },
              window: duration,
              burst: { type: 'integer', minimum: 1 },
              exact: { type: 'boolean' },
            },
            ['per', 'requests', 'window'],
          ),
        },
        concurrency: {
          type: 'array',
          items: object(
            {
              per,
              tools: globs,
              methods,
              max: { type: 'integer', minimum: 1 },
              queue: { type: 'integer', minimum: 0 },
            },
            ['per', 'max'],
          ),
        },
        calls: { type: 'array', items: object({ tools: globs, methods, timeout: duration, maxResult: size }) },
        shedding: object({ maxLag: duration, maxInFlight: { type: 'integer', minimum: 1 } }),
      }),
      files: object({
        read: { ...methods, description: 'Directories and files that tools may read.' },
        write: { ...methods, description: 'Directories and files that they may also write.' },
        maxFile: size,
      }),
      commands: object(
        {
          programs: {
            type: 'array',
            items: {
              anyOf: [
                text,
                object(
                  {
                    name: text,
                    path: text,
                    options: { anyOf: [{ enum: ['allow', 'deny'] }, { type: 'array', items: text }] },
                    fixedArgs: { type: 'array', items: { type: 'string' } },
                  },
                  ['name'],
                ),
              ],
            },
          },
          level: { enum: ['kernel', 'limits', 'none'] },
          readOnly: methods,
          writable: methods,
          network: { enum: ['none', 'host'] },
          timeout: duration,
          maxOutput: size,
        },
        ['programs'],
      ),
      network: object({
        allow: methods,
        deny: methods,
        hosts: methods,
        ports: { type: 'array', items: { type: 'integer', minimum: 1, maximum: 65535 } },
        httpsOnly: { type: 'boolean' },
      }),
    },
    ['version'],
  ),
} as const;
